import { isAbsolute, resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { KafkaUser } from '@waypost/contracts';
import { changedSettings, RULE_SETS, type RuleSet, THRESHOLDS } from './analysis/thresholds.js';
import { EXPORT_FORMATS, type ExportFormat } from './export/export-formats.js';
import { assertSelective } from './rejected-selection.js';
import { defaultDataDir } from './stack/stack-config.js';
import { type Terminal, usageError } from './terminal/output.js';
import { parseList, parsePositive, parseTime } from './time-argument.js';

export interface ProgramContext {
  readonly terminal: Terminal;
  readonly now: () => number;
  /** Where the user called from; relative file names are resolved against it. */
  readonly callerDir: string;
}

interface Shared {
  readonly dataDir: string;
}

/** Every command loads its own code when it runs, so that `--help` and usage errors are instant. */
export function createProgram(context: ProgramContext): Command {
  const { terminal } = context;
  const program = new Command('waypost')
    .description('Manages a Waypost stack: fleets, subscriptions, pings, topics, history.')
    .showHelpAfterError('(add --help to see the options of this command)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
    })
    .addHelpText(
      'after',
      '\nA command finds the stack by its data directory. KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DATABASE_URL,\n' +
        'WAYPOST_API_URL, WAYPOST_ADMIN_URLS point it to another one, variable by variable.',
    );
  addFleetCommands(program, context);
  addSubscribe(program, context);
  addPublish(program, context);
  addRead(program, context);
  addBacktest(program, context);
  addVerify(program, context);
  addWait(program, context);
  addHistory(program, context);
  addRejectedCommands(program, context);
  addTaskCommands(program, context);
  addRebuild(program, context);
  addRefill(program, context);
  addKeyCommands(program, context);
  addSetUp(program, context);
  addDoctor(program, context);
  return program;
}

/** A command that runs; every one takes the data directory. */
function leaf(parent: Command, nameAndArguments: string, description: string): Command {
  return parent
    .command(nameAndArguments)
    .description(description)
    .option('--data-dir <dir>', 'data directory of the stack', defaultDataDir);
}

function addFleetCommands(program: Command, { terminal, now }: ProgramContext): void {
  const fleet = program.command('fleet').description('Fleets and their API keys.');
  leaf(fleet, 'create <id>', 'Creates a fleet and an API key, which is the last word printed.')
    .addOption(
      new Option('--format <format>', 'body format of its subscriptions').choices(['v1', 'legacy-v1']).default('v1'),
    )
    .option('--routes', 'enable route and stop events now (default: with the first subscription to one)')
    .action(async (fleetId: string, options: Shared & { format: 'v1' | 'legacy-v1'; routes?: true }) => {
      const { createFleet } = await import('./commands/fleet.js');
      await createFleet(terminal, { ...options, fleetId, routes: options.routes ?? false, now });
    });
  leaf(fleet, 'key <id>', 'Creates another API key for a fleet; it is the last word printed.').action(
    async (fleetId: string, { dataDir }: Shared) => {
      const { createFleetKey } = await import('./commands/fleet.js');
      await createFleetKey(terminal, { dataDir, fleetId, now });
    },
  );
}

interface SubscribeFlags extends Shared {
  readonly fleet: string;
  readonly url: string;
  readonly eventTypes: string[];
  readonly device?: string[];
}

function addSubscribe(program: Command, { terminal }: ProgramContext): void {
  leaf(
    program,
    'subscribe',
    'Creates one webhook subscription per event type; prints a JSON line with the secret of each.',
  )
    .requiredOption('--fleet <id>', 'whose events')
    .requiredOption('--url <url>', 'where to send them')
    .requiredOption('--event-types <list>', 'comma-separated, e.g. position,ignition_on', parseList)
    .option('--device <id...>', 'only these devices (default: all)')
    .action(async ({ device, ...flags }: SubscribeFlags) => {
      const { subscribe } = await import('./commands/subscribe.js');
      await subscribe(terminal, { ...flags, deviceIds: device ?? [] });
    });
}

interface PublishFlags extends Shared {
  readonly fleet: string;
  readonly shiftToNow?: true;
  readonly keepReceivedTime?: true;
  readonly rate?: number;
}

function addPublish(program: Command, { terminal, now, callerDir }: ProgramContext): void {
  leaf(program, 'publish <file>', 'Publishes the pings of an .ndjson or .ndjson.gz file, in file order.')
    .requiredOption('--fleet <id>', 'the fleet that the devices belong to')
    .option('--shift-to-now', 'shift all times so that the newest ping is now')
    .option('--keep-received-time', "use the file's receivedTime where present (default: the ping's eventTime)")
    .option('--rate <n>', 'pings per second (default: no limit)', parsePositive)
    .action(async (file: string, flags: PublishFlags) => {
      const { publish } = await import('./commands/publish.js');
      const absent = { shiftToNow: false, keepReceivedTime: false, rate: null };
      await publish(terminal, { ...absent, ...flags, file: fromCaller(callerDir, file), now });
    });
}

interface RangeFlags extends Shared {
  readonly from?: number;
  readonly to?: number;
  readonly device?: string;
}

/** What a command takes for flags that were not given. */
const NO_RANGE = { from: null, to: null, device: null } as const;

interface ReadFlags extends RangeFlags {
  readonly type?: string;
  readonly untilEnd?: true;
  readonly format: ExportFormat;
  readonly output?: string;
  readonly resume?: true;
}

function addRead(program: Command, { terminal, callerDir }: ProgramContext): void {
  const command = leaf(
    program,
    'read <topic>',
    'Prints the decoded records of a topic as NDJSON, CSV or Parquet; follows it until stopped.',
  );
  withTimes(command, 'records appended')
    .option('--device <id>', 'only this device')
    .option('--type <eventType>', 'only this event type')
    .option('--until-end', 'stop at the current end of the topic')
    .addOption(new Option('--format <format>', 'output format').choices(EXPORT_FORMATS).default('ndjson'))
    .option('--output <file>', 'output file (default: standard output)')
    .option('--resume', 'continue an interrupted output file')
    .action(async (topic: string, { output, ...flags }: ReadFlags) => {
      const { read } = await import('./commands/read.js');
      const absent = { ...NO_RANGE, type: null, untilEnd: false, resume: false };
      await read(terminal, { ...absent, ...flags, topic, output: fromCallerIfAny(callerDir, output) });
    });
}

interface BacktestFlags extends RangeFlags {
  readonly report?: string;
}

function addBacktest(program: Command, { terminal, callerDir }: ProgramContext): void {
  const command = leaf(
    program,
    'backtest',
    'Runs the rules over recorded pings with other thresholds and shows what would change; writes nothing to the stack.',
  );
  withTimes(command, 'pings appended').option('--device <id>', 'only this device');
  for (const { flag, description, parse } of THRESHOLDS) command.option(flag, description, parse);
  command
    .option('--report <file>', 'also write an HTML report')
    .action(async ({ dataDir, from, to, device, report, ...thresholds }: BacktestFlags) => {
      const { backtest } = await import('./commands/backtest.js');
      await backtest(terminal, {
        dataDir,
        from: from ?? null,
        to: to ?? null,
        device: device ?? null,
        settings: changedSettings(thresholds),
        report: fromCallerIfAny(callerDir, report),
      });
    });
}

function addVerify(program: Command, { terminal }: ProgramContext): void {
  const command = leaf(
    program,
    'verify',
    'Recomputes the events from the pings and checks the log and the deliveries against them.',
  );
  withTimes(command, 'pings and events appended')
    .addOption(
      new Option('--rules <rules>', 'rule set of telemetry-processor (its WAYPOST_RULES)')
        .choices(RULE_SETS)
        .default('all'),
    )
    .action(async (flags: RangeFlags & { rules: RuleSet }) => {
      const { verify } = await import('./commands/verify.js');
      await verify(terminal, { ...NO_RANGE, ...flags });
    });
}

function addWait(program: Command, { terminal, now }: ProgramContext): void {
  leaf(program, 'wait', 'Waits until every consumer group is at the end of its topics and no delivery is pending.')
    .requiredOption('--idle <seconds>', 'seconds that the stack must stay idle', parsePositive)
    .action(async ({ dataDir, idle }: Shared & { idle: number }) => {
      const { waitUntilIdle } = await import('./commands/wait.js');
      await waitUntilIdle(terminal, { dataDir, idleMs: idle * 1_000, now });
    });
}

interface HistoryFlags extends RangeFlags {
  readonly fleet: string;
  readonly type?: string[];
  readonly subscription?: string;
  readonly status?: string;
  readonly statusCode?: string;
}

function addHistory(program: Command, { terminal, now }: ProgramContext): void {
  const command = leaf(program, 'history', "Prints a fleet's delivery history (v2) as NDJSON.");
  withTimes(command.requiredOption('--fleet <id>', 'whose history'), 'first attempts')
    .option('--type <eventType...>', 'only these event types')
    .option('--device <id>', 'only this device')
    .addOption(new Option('--status <status>', 'only these').choices(['delivered', 'failed', 'pending']))
    .option('--status-code <code>', 'only with this status code in the last attempt')
    .option('--subscription <id>', 'only this subscription')
    .action(async ({ type: types = [], ...flags }: HistoryFlags) => {
      const { history } = await import('./commands/history.js');
      const absent = { ...NO_RANGE, subscription: null, status: null, statusCode: null };
      await history(terminal, { ...absent, ...flags, types, now });
    });
}

interface RejectedFlags extends RangeFlags {
  readonly reason?: string;
  readonly all?: true;
}

function addRejectedCommands(program: Command, { terminal }: ProgramContext): void {
  const rejected = program
    .command('rejected')
    .description('Records that could not be used, with their original bytes.');
  const filtered = (command: Command): Command =>
    withTimes(command, 'rejections')
      .option('--reason <reason>', 'only these, e.g. malformed, unknown_schema, future')
      .option('--device <id>', 'only with this key');
  const selectionOf = (ids: readonly string[], { dataDir: _, all: __, ...flags }: RejectedFlags) => ({
    ...NO_RANGE,
    reason: null,
    ...flags,
    ids,
  });
  filtered(leaf(rejected, 'list', 'Lists rejected records as NDJSON.')).action(async (flags: RejectedFlags) => {
    const { listRejected } = await import('./commands/rejected.js');
    await listRejected(terminal, { dataDir: flags.dataDir, selection: selectionOf([], flags) });
  });
  filtered(leaf(rejected, 'republish [ids...]', 'Republishes rejected records, with the original key and bytes.'))
    .option('--all', 'all of them')
    .action(async (ids: string[], flags: RejectedFlags) => {
      const selection = assertSelective(selectionOf(ids, flags), flags.all ?? false);
      const { republishRejected } = await import('./commands/rejected.js');
      await republishRejected(terminal, { dataDir: flags.dataDir, selection });
    });
}

function addTaskCommands(program: Command, { terminal }: ProgramContext): void {
  const tasks = program
    .command('tasks')
    .description('Partitions of the running applications, and those that are parked.');
  leaf(tasks, 'list', 'Lists parked tasks as NDJSON, with the reason of each.')
    .option('--all', 'also those that are running')
    .action(async ({ dataDir, all }: Shared & { all?: true }) => {
      const { listTasks } = await import('./commands/tasks.js');
      await listTasks(terminal, { dataDir, all: all ?? false });
    });
  const commands = {
    retry: 'Tries a parked task again now.',
    skip: 'Moves the record that a parked task fails at to the rejected records, and continues after it.',
  } as const;
  for (const command of ['retry', 'skip'] as const) {
    leaf(tasks, `${command} <task>`, commands[command]).action(async (task: string, { dataDir }: Shared) => {
      const { commandTask } = await import('./commands/tasks.js');
      await commandTask(terminal, { dataDir, task, command });
    });
  }
  leaf(
    tasks,
    'seek <task> <position>',
    'Lets a task that has lost its position continue from earliest, latest or an offset.',
  ).action(async (task: string, position: string, { dataDir }: Shared) => {
    const { commandTask } = await import('./commands/tasks.js');
    await commandTask(terminal, { dataDir, task, command: 'seek', position });
  });
}

function fromCaller(callerDir: string, file: string): string {
  return isAbsolute(file) ? file : resolve(callerDir, file);
}

function fromCallerIfAny(callerDir: string, file: string | undefined): string | null {
  return file === undefined ? null : fromCaller(callerDir, file);
}

function addRebuild(program: Command, { terminal }: ProgramContext): void {
  leaf(program, 'rebuild', 'Empties the delivery and path history, which then fills again from the logs.')
    .option('--yes', 'confirm: existing rows are deleted')
    .option('--watch', 'delete nothing, only show progress')
    .action(async (flags: Shared & { yes?: true; watch?: true }) => {
      const { rebuildHistory } = await import('./commands/rebuild.js');
      await rebuildHistory(terminal, { yes: false, watch: false, ...flags, now: () => performance.now() });
    });
}

function addRefill(program: Command, { terminal }: ProgramContext): void {
  leaf(
    program,
    'refill',
    'Fills a lost, empty database from the topics: fleets, geofences, subscriptions, replays.',
  ).action(async ({ dataDir }: Shared) => {
    const { refill } = await import('./commands/refill.js');
    await refill(terminal, { dataDir });
  });
}

function addKeyCommands(program: Command, { terminal, now }: ProgramContext): void {
  const keys = program.command('keys').description('The keys that seal stored secrets.');
  leaf(
    keys,
    'reseal',
    'Seals all stored secrets under the newest key of WAYPOST_SEALING_KEY and publishes them; it can be repeated.',
  ).action(async ({ dataDir }: Shared) => {
    const { resealSecrets } = await import('./commands/keys.js');
    await resealSecrets(terminal, { dataDir, now });
  });
}

function addSetUp(program: Command, { terminal }: ProgramContext): void {
  leaf(program, 'set-up', 'Creates missing topics and registers the schemas; "npm start" runs this for you.')
    .option('--tables', 'also create the tables of the database, or bring them up to date')
    .action(async (flags: Shared & { tables?: true }) => {
      const { setUp } = await import('./commands/set-up.js');
      await setUp(terminal, { tables: false, ...flags });
    });
}

/** Not from the list of permissions itself, which loads all schemas. */
const KAFKA_USERS = Object.keys({
  'telemetry-processor': true,
  'webhook-delivery': true,
  'history-projector': true,
  'public-api': true,
  'set-up': true,
} satisfies Record<KafkaUser, true>);

function addDoctor(program: Command, { terminal, now }: ProgramContext): void {
  leaf(
    program,
    'doctor',
    'Examines Kafka, the registry and the database before a set-up, and says how to fix what is wrong. Creates nothing without --try.',
  )
    .addOption(new Option('--user <user>', 'whose login in Kafka it is, if each has its own').choices(KAFKA_USERS))
    .option('--try', 'also make a topic, write to it in a transaction and delete it: shows the clocks of the brokers')
    .action(async (flags: Shared & { user?: KafkaUser; try?: true }) => {
      const { doctor } = await import('./commands/doctor.js');
      await doctor(terminal, { ...flags, now });
    });
}

function withTimes(command: Command, what: string): Command {
  return command
    .option('--from <time>', `only ${what} at or after this time (RFC 3339, or epoch milliseconds)`, parseTime)
    .option('--to <time>', `only ${what} before this time`, parseTime)
    .hook('preAction', (called) => {
      const { from, to } = called.opts<{ from?: number; to?: number }>();
      if (from !== undefined && to !== undefined && from >= to) throw usageError('--from must be before --to.');
    });
}
