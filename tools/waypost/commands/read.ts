import { decodeBatch, toJson } from '../log/decode-batch.js';
import type { LogRange } from '../log/log-range.js';
import { openLog } from '../log/open-log.js';
import { matches, type RecordFilter } from '../log/record-filter.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { writeLine, type Terminal } from '../terminal/output.js';

export interface ReadOptions extends RecordFilter, LogRange {
  readonly dataDir: string;
  readonly topic: string;
}

/** Prints the committed records of a topic, decoded, one JSON line each. */
export async function read(terminal: Terminal, options: ReadOptions): Promise<void> {
  const log = openLog(await stackEnvironment(options.dataDir), options.topic);
  try {
    await log.read(options, async (batch) => {
      const records = await decodeBatch(log.codec, batch);
      const lines = records.filter((record) => matches(record, options)).map(toJson);
      if (lines.length > 0) await writeLine(terminal.out, lines.join('\n'));
    });
  } finally {
    await log.close();
  }
}
