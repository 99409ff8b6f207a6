import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ALL_FLEETS } from '@waypost/database';
import type { WebhookAttempt } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { anyLog, attemptOf, NOW, uuidOf } from '../deliveries/attempt-samples.contract.js';
import { createDeliveryProjection } from '../deliveries/postgres-delivery-projection.js';
import { explainQuery } from '../sql/explain-query.js';
import { createDeliveryFigures } from './delivery-figures.js';
import { expectFigures } from './figures-of-log.contract.js';
import { type FigureGroup, figuresSql } from './figures-sql.js';

const suite = useTestHistory({ poolSize: 8 });

const DAY_MS = 86_400_000;
const WINDOW = { fleetId: ALL_FLEETS, startAt: NOW - 30 * DAY_MS, endAt: NOW + DAY_MS };
const PARTITIONS = 3;
let logs = 0;

beforeEach(() => suite.dataSource.query('TRUNCATE delivery_figures, deliveries'));

/** In batches of any sizes, to the partitions that a log of several fleets has. */
async function project(log: readonly WebhookAttempt[], sizes: readonly number[]): Promise<void> {
  const topic = `log-${String((logs += 1))}`;
  const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
  const partitionOf = ({ eventId }: WebhookAttempt) => parseInt(eventId.slice(0, 4), 16) % PARTITIONS;
  for (let at = 0, round = 0; at < log.length; round += 1) {
    const next = at + (sizes[round % sizes.length] ?? 1);
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const attempts = log.slice(at, next).filter((attempt) => partitionOf(attempt) === partition);
      const expectedOffset = await projection.readPosition(topic, partition);
      const nextOffset = (expectedOffset ?? 0) + attempts.length + 1;
      const applied = await projection.apply({ topic, partition, expectedOffset, nextOffset, attempts });
      expect(applied).toMatchObject({ type: 'applied' });
    }
    at = next;
  }
}

async function rowsBy(groupBy: FigureGroup, step: 'minute' | 'hour' | 'day') {
  const result = await createDeliveryFigures({ pages: suite.pages }).read({ ...WINDOW, groupBy, step }, (row) => row);
  return result.type === 'figures' ? result.rows : [];
}

async function sumsBy(groupBy: FigureGroup) {
  const result = await createDeliveryFigures({ pages: suite.pages }).sum({ ...WINDOW, groupBy, step: 'minute' });
  return result.type === 'figures' ? result.rows : [];
}

describe('the figures of all fleets (R-37, R-41)', () => {
  it('are those of the log, over time and of each fleet, for any log of several fleets in any batches', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, size: 'medium' });
    const steps = fc.constantFrom('minute' as const, 'hour' as const, 'day' as const);
    const groups = fc.constantFrom('none' as const, 'fleet' as const);
    await fc.assert(
      fc.asyncProperty(anyLog('any'), cuts, steps, groups, async (sampled, sizes, step, groupBy) => {
        await suite.dataSource.query('TRUNCATE delivery_figures, deliveries');
        const log = sampled.map((of) => ({
          ...of,
          fleetId: `fleet-${of.eventId.slice(0, 1)}`,
          eventId: uuidOf(`${String(logs)} ${of.eventId}`),
          deliveryCreatedAt: of.firstAttemptAt - 20,
        }));
        await project(log, sizes);
        expectFigures(await rowsBy(groupBy, step), log, { step, groupBy });
        // All in one bucket: what the log counts of them as if it had been of one day.
        const sums = (await sumsBy(groupBy)).map((sum) => ({ ...sum, startAt: 0 }));
        const ofOneDay = log.map((of) => ({ ...of, firstAttemptAt: 0 }));
        expectFigures(sums, ofOneDay, { step: 'day', groupBy });
      }),
      { numRuns: 30 },
    );
  });

  it('are read from rows of fleets, however many subscriptions and event types these have', async () => {
    const log = Array.from({ length: 60 }, (_, n) =>
      attemptOf({
        fleetId: `fleet-${String(n % 2)}`,
        eventId: uuidOf(`many ${String(n)}`),
        subscriptionId: uuidOf(`s ${String(n)}`),
        eventType: n % 3 === 0 ? 'position' : 'ignition_on',
      }),
    );
    await project(log, [60]);
    const query = { ...WINDOW, startAt: NOW - DAY_MS, step: 'day', groupBy: 'fleet' } as const;
    const plan = await explainQuery(suite.pages, ALL_FLEETS, figuresSql(query, 1_000_000));
    const scans = plan.filter((node) => node['Relation Name'] !== undefined && node['Actual Rows'] > 0);
    // Two fleets in three partitions.
    expect(scans).toMatchObject([{ 'Index Name': 'delivery_figures_pkey', 'Actual Rows': 6 }]);
    expect(plan.map((node) => node['Node Type'])).not.toContain('Sort');
  });

  it('are in no answer about a fleet', async () => {
    await project([attemptOf({ fleetId: 'acme' })], [1]);
    const figures = createDeliveryFigures({ pages: suite.pages });
    const query = { ...WINDOW, fleetId: 'acme', step: 'day', groupBy: 'subscription' } as const;
    expect(await figures.read(query, ({ group }) => group)).toMatchObject({
      rows: [expect.not.stringMatching('acme')],
    });
  });
});
