import { createDataSource } from '@waypost/database';
import { createTerminalReporter } from '../../tools/dev-stack/stack-reporter.js';
import { createFleets, type Fleet } from '../history/load/fleets.js';
import { openHistoryStack } from '../history/stack/history-stack.js';
import { benchEnvironment, passedOn } from '../shared/bench-config.js';

/** A PostgreSQL with the deliveries that `npm run bench:history -- --keep` has left in a folder. */
export async function openKeptHistory(folder: string) {
  const stack = await openHistoryStack({
    folder,
    environment: passedOn(benchEnvironment()),
    reporter: createTerminalReporter({ stream: process.stderr }),
    signal: new AbortController().signal,
    keep: true,
    drop: false,
  });
  await forgetEarlierRuns(stack.databaseUrl);
  return { databaseUrl: stack.databaseUrl, fleetId: largestWithFailures().fleetId, stop: () => stack.stop() };
}

/** Each run has topics of its own, which the projector would refuse after those of the run before, and creates the fleet. */
async function forgetEarlierRuns(databaseUrl: string): Promise<void> {
  const dataSource = await createDataSource(databaseUrl, { applicationName: 'bench' }).initialize();
  await dataSource.query('TRUNCATE projected_topics, fleets CASCADE');
  await dataSource.destroy();
}

/** Its deliveries end in both ways, so that a filter by status always finds some. */
function largestWithFailures(): Fleet {
  const fleet = createFleets().find(({ subscriptions }) =>
    subscriptions.some(({ receiver }) => receiver.type === 'dead'),
  );
  if (fleet === undefined) throw new Error('All receivers of the history accept.');
  return fleet;
}
