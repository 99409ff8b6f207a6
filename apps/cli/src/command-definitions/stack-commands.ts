import { type Command, Option } from 'commander';
import type { KafkaUser } from '@waypost/contracts';
import { parsePositive } from '../parse-arguments.js';
import { fromCaller, leaf, type ProgramContext, type Shared } from './command.js';

export function addWait(program: Command, { terminal, now }: ProgramContext): void {
  leaf(program, 'wait', 'Waits until every consumer group is at the end of its topics and no subscription is parked.')
    .requiredOption('--idle <seconds>', 'seconds that the stack must stay idle', parsePositive)
    .action(async ({ dataDir, idle }: Shared & { idle: number }) => {
      const { waitUntilIdle } = await import('../commands/wait.js');
      await waitUntilIdle(terminal, { dataDir, idleMs: idle * 1_000, now });
    });
}

export function addTaskCommands(program: Command, { terminal }: ProgramContext): void {
  const tasks = program
    .command('tasks')
    .description('Lists and repairs parked partitions of the running applications.');
  leaf(tasks, 'list', 'Lists parked tasks as NDJSON, each with its reason.')
    .option('--all', 'also list running tasks')
    .action(async ({ dataDir, all }: Shared & { all?: true }) => {
      const { listTasks } = await import('../commands/tasks.js');
      await listTasks(terminal, { dataDir, all: all ?? false });
    });
  leaf(tasks, 'retry <task>', 'Retries a parked task now.').action(async (task: string, { dataDir }: Shared) => {
    const { commandTask } = await import('../commands/tasks.js');
    await commandTask(terminal, { dataDir, task, command: 'retry' });
  });
  leaf(
    tasks,
    'skip <task>',
    'Moves the failing record (or corrupt batch) of a parked task to the rejected records and continues after it.',
  )
    .option('--offset <offset>', 'only if it is still parked at this record')
    .option('--topic <name>', 'topic of that record, if the task reads several')
    .action(async (task: string, { dataDir, offset, topic }: Shared & { offset?: string; topic?: string }) => {
      const { commandTask } = await import('../commands/tasks.js');
      await commandTask(terminal, { dataDir, task, command: 'skip', position: offset, topic });
    });
  leaf(
    tasks,
    'seek <task> <position>',
    'Lets a task that has lost its position continue from earliest, latest or an offset.',
  ).action(async (task: string, position: string, { dataDir }: Shared) => {
    const { commandTask } = await import('../commands/tasks.js');
    await commandTask(terminal, { dataDir, task, command: 'seek', position });
  });
}

export function addRebuild(program: Command, { terminal }: ProgramContext): void {
  leaf(program, 'rebuild', 'Deletes the delivery and path history and rebuilds it from the logs.')
    .option('--yes', 'confirm: existing rows are deleted')
    .addOption(new Option('--watch', 'only show progress, delete nothing').conflicts('yes'))
    .option('--without-earlier', 'after "state import": also delete what was before it, and cannot come back')
    .action(async (flags: Shared & { yes?: true; watch?: true; withoutEarlier?: true }) => {
      const { rebuildHistory } = await import('../commands/rebuild.js');
      const absent = { yes: false, watch: false, withoutEarlier: false };
      await rebuildHistory(terminal, { ...absent, ...flags, now: () => performance.now() });
    });
}

export function addRefill(program: Command, { terminal }: ProgramContext): void {
  leaf(
    program,
    'refill',
    'Fills an empty database from the topics after a loss: fleets, geofences, subscriptions, replays, operational events.',
  ).action(async ({ dataDir }: Shared) => {
    const { refill } = await import('../commands/refill.js');
    await refill(terminal, { dataDir });
  });
}

export function addStateCommands(program: Command, { terminal, callerDir }: ProgramContext): void {
  const state = program
    .command('state')
    .description('Moves fleets, geofences, subscriptions and the state of devices to new topics.');
  leaf(
    state,
    'export <file>',
    'Writes fleets, geofences, subscriptions and the state of devices to a file. All applications must be stopped, and everything finished.',
  ).action(async (file: string, { dataDir }: Shared) => {
    const { exportState } = await import('../commands/state-export.js');
    await exportState(terminal, { dataDir, file: fromCaller(callerDir, file) });
  });
  leaf(
    state,
    'import <file>',
    'Fills topics that "set-up" has just created, in this or another cluster, with any number of partitions.',
  ).action(async (file: string, { dataDir }: Shared) => {
    const { importState } = await import('../commands/state-import.js');
    await importState(terminal, { dataDir, file: fromCaller(callerDir, file) });
  });
}

export function addKeyCommands(program: Command, { terminal, now }: ProgramContext): void {
  const keys = program.command('keys').description('Keys that encrypt stored secrets.');
  leaf(
    keys,
    'reseal',
    'Encrypts all stored secrets with the first key of WAYPOST_SEALING_KEY and publishes them; can be repeated.',
  ).action(async ({ dataDir }: Shared) => {
    const { resealSecrets } = await import('../commands/keys.js');
    await resealSecrets(terminal, { dataDir, now });
  });
}

export function addSetUp(program: Command, { terminal }: ProgramContext): void {
  leaf(program, 'set-up', 'Creates missing topics and registers the schemas; "npm start" runs this for you.')
    .option('--tables', 'also create or migrate the database tables')
    .action(async (flags: Shared & { tables?: true }) => {
      const { setUp } = await import('../commands/set-up.js');
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

export function addDoctor(program: Command, { terminal, now }: ProgramContext): void {
  leaf(
    program,
    'doctor',
    'Checks Kafka, the registry and the database, and says how to fix each problem. Creates nothing without --try.',
  )
    .addOption(
      new Option('--user <user>', 'application whose Kafka login to check, if each has its own').choices(KAFKA_USERS),
    )
    .option(
      '--try',
      'also create a topic, write to it in a transaction and delete it; also compares the clocks of the brokers',
    )
    .action(async (flags: Shared & { user?: KafkaUser; try?: true }) => {
      const { doctor } = await import('../commands/doctor.js');
      await doctor(terminal, { ...flags, now });
    });
}
