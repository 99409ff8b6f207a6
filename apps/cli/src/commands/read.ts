import { unlink } from 'node:fs/promises';
import type { RecordBatch } from '@waypost/streams';
import { columnsOf } from '../export/columns.js';
import { csvFormat, ndjsonFormat, type TextFormat } from '../export/export-format.js';
import type { ExportFormat } from '../export/export-formats.js';
import { writeParquet } from '../export/parquet-file.js';
import { openResumable, type ResumableFile } from '../export/resumable-file.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { stackSource } from '../stack/stack-connections.js';
import { createProgress, type Terminal, usageError, withProgress, writeText } from '../terminal/output.js';
import { decodeBatch, type DecodedRecord } from '../topic-reading/decode-batch.js';
import type { LogRange } from '../topic-reading/log-range.js';
import { matches, type OpenLog, openLog, type RecordFilter } from '../topic-reading/open-log.js';

export interface ReadOptions extends RecordFilter, LogRange {
  readonly dataDir: string;
  readonly topic: string;
  readonly format?: ExportFormat;
  /** null: to standard output. */
  readonly output?: string | null;
  /** In CSV, leaves text alone that a spreadsheet would run as a formula. */
  readonly keepFormulas?: boolean;
  /** Goes on with an output that was cut short. */
  readonly resume?: boolean;
}

/** Writes the committed records of a topic, decoded: NDJSON, CSV or Parquet, to a file or to standard output. */
export async function read(terminal: Terminal, options: ReadOptions): Promise<void> {
  const { format = 'ndjson', output = null, resume = false } = options;
  const ends = options.untilEnd || options.to !== null;
  if (output === null && format === 'parquet') throw usageError('A Parquet file needs --output.');
  if (output === null && resume) throw usageError('--resume continues a file: it needs --output.');
  if (output !== null && !ends) throw usageError('A file needs an end: use --until-end or --to.');
  const stack = await stackEnvironment(options.dataDir);
  const log = openLog(stack, options.topic);
  try {
    if (output === null) await print(terminal, log, options);
    else await exportTo({ output, source: await stackSource(stack, options.dataDir) }, terminal, log, options);
  } finally {
    await log.close();
  }
}

function textFormat(log: OpenLog, { format, keepFormulas = false }: ReadOptions): TextFormat {
  return format === 'csv' ? csvFormat(columnsOf(log.schema), { keepFormulas }) : ndjsonFormat;
}

async function matching(log: OpenLog, batch: RecordBatch, filter: RecordFilter): Promise<DecodedRecord[]> {
  const records = await decodeBatch(log.codec, batch);
  return records.filter((record) => matches(record, filter));
}

async function print({ out }: Terminal, log: OpenLog, options: ReadOptions): Promise<void> {
  const format = textFormat(log, options);
  if (format.header !== '') await writeText(out, format.header);
  await log.read(options, async (batch) => {
    const records = await matching(log, batch, options);
    if (records.length > 0) await writeText(out, format.textOf(records));
  });
}

async function exportTo(
  { output, source }: { readonly output: string; readonly source: string },
  terminal: Terminal,
  log: OpenLog,
  options: ReadOptions,
): Promise<void> {
  const { format = 'ndjson', resume = false } = options;
  const isParquet = format === 'parquet';
  const text = textFormat(log, options);
  const file = await openResumable({
    file: isParquet ? `${output}.ndjson` : output,
    result: output,
    query: queryOf(options),
    source,
    header: text.header,
    resume,
    now: () => performance.now(),
  });
  await fill(file, { terminal, log, options, format: text });
  if (isParquet) await toParquet(`${output}.ndjson`, output, { terminal, log, records: file.records });
  await file.forget();
  await writeText(terminal.err, `${output}: ${String(file.records)} records\n`);
}

interface Filling {
  readonly terminal: Terminal;
  readonly log: OpenLog;
  readonly options: ReadOptions;
  readonly format: TextFormat;
}

async function fill(file: ResumableFile, { terminal, log, options, format }: Filling): Promise<void> {
  const positions = new Map(file.positions);
  try {
    await withProgress(terminal, ({ onTotal, advance }) =>
      log.read({ ...options, positions, onTotal }, async (batch) => {
        const records = await matching(log, batch, options);
        const { partition, nextOffset } = batch;
        await file.append(format.textOf(records), { partition, nextOffset, records: records.length });
        advance(batch.records.length, () => `partition ${String(partition)}, ${String(file.records)} records`);
      }),
    );
  } finally {
    await file.close();
  }
}

async function toParquet(
  from: string,
  to: string,
  { terminal, log, records }: { readonly terminal: Terminal; readonly log: OpenLog; readonly records: number },
): Promise<void> {
  const progress = createProgress(terminal, records);
  try {
    await writeParquet({ from, to, columns: columnsOf(log.schema) }, (rows) => {
      progress.update(rows, `Parquet, ${String(rows)} rows`);
    });
  } finally {
    progress.stop();
  }
  await unlink(from);
}

/** Identifies an export: only the same one can be resumed. */
function queryOf({ topic, format = 'ndjson', from, to, device, type, untilEnd, keepFormulas }: ReadOptions): string {
  const escapesFormulas = format === 'csv' ? keepFormulas !== true : undefined;
  return JSON.stringify({ topic, format, from, to, device, type, untilEnd, escapesFormulas });
}
