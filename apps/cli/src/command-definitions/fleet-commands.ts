import { type Command, Option } from 'commander';
import { DELIVERY_STATUSES } from '@waypost/domain';
import { parseList } from '../parse-arguments.js';
import {
  endsWithReader,
  leaf,
  NO_RANGE,
  type ProgramContext,
  type RangeFlags,
  type Shared,
  withTimes,
} from './command.js';

export function addFleetCommands(program: Command, { terminal, now }: ProgramContext): void {
  const fleet = program.command('fleet').description('Fleets and their API keys.');
  leaf(fleet, 'create <id>', 'Creates a fleet and an API key, which is the last word printed.')
    .addOption(
      new Option('--format <format>', 'body format of its subscriptions').choices(['v1', 'legacy-v1']).default('v1'),
    )
    .option('--routes', 'enable route and stop events now (default: with the first subscription to one)')
    .action(async (fleetId: string, options: Shared & { format: 'v1' | 'legacy-v1'; routes?: true }) => {
      const { createFleet } = await import('../commands/fleet.js');
      await createFleet(terminal, { ...options, fleetId, routes: options.routes ?? false, now });
    });
  leaf(fleet, 'key <id>', 'Creates another API key for a fleet; it is the last word printed.').action(
    async (fleetId: string, { dataDir }: Shared) => {
      const { createFleetKey } = await import('../commands/fleet.js');
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

export function addSubscribe(program: Command, { terminal }: ProgramContext): void {
  leaf(
    program,
    'subscribe',
    'Creates one webhook subscription per event type and prints each as a JSON line with their shared signing secret.',
  )
    .requiredOption('--fleet <id>', 'fleet whose events to send')
    .requiredOption('--url <url>', 'URL to send them to')
    .requiredOption('--event-types <list>', 'comma-separated, e.g. position,ignition_on', parseList)
    .option('--device <id...>', 'only these devices (default: all)')
    .action(async ({ device, ...flags }: SubscribeFlags) => {
      const { subscribe } = await import('../commands/subscribe.js');
      await subscribe(terminal, { ...flags, deviceIds: device ?? [] });
    });
}

interface HistoryFlags extends RangeFlags {
  readonly fleet: string;
  readonly type?: string[];
  readonly subscription?: string;
  readonly status?: string;
  readonly statusCode?: string;
}

export function addHistory(program: Command, context: ProgramContext): void {
  const { terminal, now } = context;
  const command = endsWithReader(
    leaf(program, 'history', "Prints a fleet's delivery history (v2) as NDJSON."),
    context,
  );
  withTimes(command.requiredOption('--fleet <id>', 'fleet whose history to print'), 'first attempts')
    .option('--type <eventType...>', 'only these event types')
    .option('--device <id>', 'only this device')
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices(DELIVERY_STATUSES))
    .option('--status-code <code>', 'only deliveries whose last attempt got this status code')
    .option('--subscription <id>', 'only this subscription')
    .action(async ({ type: types = [], ...flags }: HistoryFlags) => {
      const { history } = await import('../commands/history.js');
      const absent = { ...NO_RANGE, subscription: null, status: null, statusCode: null };
      await history(terminal, { ...absent, ...flags, types, now });
    });
}
