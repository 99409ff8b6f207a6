import { type Command, Option } from 'commander';
import type { KafkaUser } from '@waypost/contracts';
import { parsePositive } from '../time-argument.js';
import { leaf, type ProgramContext, type Shared } from './command.js';

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
    .description('Partitions of the running applications, and those that are parked.');
  leaf(tasks, 'list', 'Lists parked tasks as NDJSON, with the reason of each.')
    .option('--all', 'also those that are running')
    .action(async ({ dataDir, all }: Shared & { all?: true }) => {
      const { listTasks } = await import('../commands/tasks.js');
      await listTasks(terminal, { dataDir, all: all ?? false });
    });
  const commands = {
    retry: 'Tries a parked task again now.',
    skip: 'Moves the record that a parked task fails at, or the corrupt batch, to the rejected records, and continues after it.',
  } as const;
  for (const command of ['retry', 'skip'] as const) {
    leaf(tasks, `${command} <task>`, commands[command]).action(async (task: string, { dataDir }: Shared) => {
      const { commandTask } = await import('../commands/tasks.js');
      await commandTask(terminal, { dataDir, task, command });
    });
  }
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
  leaf(program, 'rebuild', 'Empties the delivery and path history, which then fills again from the logs.')
    .option('--yes', 'confirm: existing rows are deleted')
    .option('--watch', 'delete nothing, only show progress')
    .action(async (flags: Shared & { yes?: true; watch?: true }) => {
      const { rebuildHistory } = await import('../commands/rebuild.js');
      await rebuildHistory(terminal, { yes: false, watch: false, ...flags, now: () => performance.now() });
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

export function addKeyCommands(program: Command, { terminal, now }: ProgramContext): void {
  const keys = program.command('keys').description('The keys that seal stored secrets.');
  leaf(
    keys,
    'reseal',
    'Seals all stored secrets under the newest key of WAYPOST_SEALING_KEY and publishes them; it can be repeated.',
  ).action(async ({ dataDir }: Shared) => {
    const { resealSecrets } = await import('../commands/keys.js');
    await resealSecrets(terminal, { dataDir, now });
  });
}

export function addSetUp(program: Command, { terminal }: ProgramContext): void {
  leaf(program, 'set-up', 'Creates missing topics and registers the schemas; "npm start" runs this for you.')
    .option('--tables', 'also create the tables of the database, or bring them up to date')
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
    'Examines Kafka, the registry and the database, and says how to fix what is wrong. Creates nothing without --try.',
  )
    .addOption(
      new Option('--user <user>', 'application whose Kafka login is examined, if each has its own').choices(
        KAFKA_USERS,
      ),
    )
    .option(
      '--try',
      'also make a topic, write to it in a transaction and delete it; this compares the clocks of the brokers, too',
    )
    .action(async (flags: Shared & { user?: KafkaUser; try?: true }) => {
      const { doctor } = await import('../commands/doctor.js');
      await doctor(terminal, { ...flags, now });
    });
}
