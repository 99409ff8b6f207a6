import { Command, InvalidArgumentError, Option } from 'commander';

/** The applications, in the order in which they are started. */
export const APP_NAMES = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'] as const;
export type AppName = (typeof APP_NAMES)[number];

export interface StartFlags {
  readonly demo: boolean;
  readonly dataDir: string;
  /** undefined: 8080, or any free port when that is taken. */
  readonly port: number | undefined;
  readonly instances: Readonly<Record<AppName, number>>;
}

const MOST_INSTANCES = 16;

/** Parses the command line; `--help` and mistakes end as commander ends them, with exit codes 0 and 1. */
export function parseStartFlags(
  args: readonly string[],
  configure: (command: Command) => void = () => undefined,
): StartFlags {
  const one = Object.fromEntries(APP_NAMES.map((name) => [name, 1])) as Record<AppName, number>;
  const command = new Command('npm start --')
    .description(
      'Starts Kafka, the schema registry, PostgreSQL and the applications, and a demo fleet with its subscriber.',
    )
    .option('--no-demo', 'without the simulated fleet and the demo subscriber')
    .option('--data-dir <dir>', 'where all data, keys and logs are kept', '.waypost/data')
    .option('--port <n>', 'port of the public API (default: 8080, or a free one)', parsePort)
    .addOption(
      new Option('--instances <app=n>', `how many processes of an application: ${APP_NAMES.join(', ')}`)
        .default(one, 'one of each')
        .argParser<Record<AppName, number>>(addInstances),
    )
    .allowExcessArguments(false);
  configure(command);
  command.parse(args, { from: 'user' });
  const { demo, dataDir, port, instances } = command.opts<StartFlags>();
  return { demo, dataDir, port, instances };
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new InvalidArgumentError('It must be a number from 1 to 65535.');
  return port;
}

function addInstances(text: string, before: Record<AppName, number>): Record<AppName, number> {
  const [app, count] = text.split('=');
  const name = APP_NAMES.find((known) => known === app);
  if (name === undefined || count === undefined || !/^\d{1,2}$/.test(count) || Number(count) > MOST_INSTANCES) {
    throw new InvalidArgumentError(
      `It must be an application (${APP_NAMES.join(', ')}) and a number up to ${String(MOST_INSTANCES)}, as in webhook-delivery=2.`,
    );
  }
  return { ...before, [name]: Number(count) };
}
