import { type Command, Option } from 'commander';
import { EXPORT_FORMATS, type ExportFormat } from '../export/export-formats.js';
import { parsePositive } from '../parse-arguments.js';
import { assertSelective } from '../rejected/rejected-selection.js';
import {
  endsWithReader,
  fromCaller,
  fromCallerIfAny,
  leaf,
  NO_RANGE,
  type ProgramContext,
  type RangeFlags,
  type Shared,
  withTimes,
} from './command.js';

interface PublishFlags extends Shared {
  readonly fleet: string;
  readonly shiftToNow?: true;
  readonly keepReceivedTime?: true;
  readonly rate?: number;
}

export function addPublish(program: Command, { terminal, now, callerDir }: ProgramContext): void {
  const names = 'other fields of the ping schema, also as speedKmh, headingDeg, altitudeM, odometerM or seq';
  const format = `one object per line, with deviceId, eventTime (ISO 8601) and ${names}; the rest becomes attributes`;
  leaf(program, 'publish <file>', `Publishes the pings of an .ndjson or .ndjson.gz file, in file order: ${format}.`)
    .requiredOption('--fleet <id>', 'the fleet that the devices belong to')
    .option('--shift-to-now', 'shift all times so that the newest ping is now')
    .option('--keep-received-time', "use the file's receivedTime where present (default: the ping's eventTime)")
    .option('--rate <n>', 'pings per second (default: no limit)', parsePositive)
    .action(async (file: string, flags: PublishFlags) => {
      const { publish } = await import('../commands/publish.js');
      const absent = { shiftToNow: false, keepReceivedTime: false, rate: null };
      await publish(terminal, { ...absent, ...flags, file: fromCaller(callerDir, file), now });
    });
}

interface ReadFlags extends RangeFlags {
  readonly type?: string;
  readonly untilEnd?: true;
  readonly format: ExportFormat;
  readonly keepFormulas?: true;
  readonly output?: string;
  readonly resume?: true;
}

export function addRead(program: Command, context: ProgramContext): void {
  const { terminal, callerDir } = context;
  const command = leaf(
    program,
    'read <topic>',
    'Prints the decoded records of a topic as NDJSON, CSV or Parquet, and follows it until interrupted.',
  );
  withTimes(endsWithReader(command, context), 'records appended')
    .option('--device <id>', 'only this device')
    .option('--type <eventType>', 'only this event type')
    .option('--until-end', 'stop at the current end of the topic')
    .addOption(new Option('--format <format>', 'output format').choices(EXPORT_FORMATS).default('ndjson'))
    .option('--keep-formulas', 'in CSV, put no quote before text that a spreadsheet would run as a formula')
    .option('--output <file>', 'output file (default: standard output)')
    .option('--resume', 'continue an interrupted output file')
    .action(async (topic: string, { output, ...flags }: ReadFlags) => {
      const { read } = await import('../commands/read.js');
      const absent = { ...NO_RANGE, type: null, untilEnd: false, resume: false };
      await read(terminal, { ...absent, ...flags, topic, output: fromCallerIfAny(callerDir, output) });
    });
}

interface RejectedFlags extends RangeFlags {
  readonly topic?: string;
  readonly reason?: string;
  readonly all?: true;
}

export function addRejectedCommands(program: Command, context: ProgramContext): void {
  const { terminal } = context;
  const rejected = program
    .command('rejected')
    .description('Records that could not be used, kept with their original bytes.');
  const filtered = (command: Command): Command =>
    withTimes(command, 'rejections')
      .option('--topic <name>', 'only records that were read from this topic')
      .option('--reason <reason>', 'only records with this reason, e.g. malformed, unknown_schema, future')
      .option('--device <id>', 'only records with this key');
  const selectionOf = (ids: readonly string[], { dataDir: _, all: __, ...flags }: RejectedFlags) => ({
    ...NO_RANGE,
    topic: null,
    reason: null,
    ...flags,
    ids,
  });
  const list = endsWithReader(leaf(rejected, 'list', 'Lists rejected records as NDJSON.'), context);
  filtered(list).action(async (flags: RejectedFlags) => {
    const { listRejected } = await import('../commands/rejected.js');
    await listRejected(terminal, { dataDir: flags.dataDir, selection: selectionOf([], flags) });
  });
  filtered(
    leaf(
      rejected,
      'republish [ids...]',
      'Republishes rejected records, with the original key and bytes, but not again what was accepted since.',
    ),
  )
    .option('--all', 'all rejected records')
    .action(async (ids: string[], flags: RejectedFlags) => {
      const selection = assertSelective(selectionOf(ids, flags), flags.all ?? false);
      const { republishRejected } = await import('../commands/rejected.js');
      await republishRejected(terminal, { dataDir: flags.dataDir, selection });
    });
}
