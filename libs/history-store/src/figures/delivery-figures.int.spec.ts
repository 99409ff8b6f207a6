import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WebhookAttempt } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { anyLog, attemptOf, attemptsOf, NOW, uuidOf } from '../deliveries/attempt-samples.contract.js';
import { createDeliveryProjection } from '../deliveries/postgres-delivery-projection.js';
import { emptyHistory } from '../rebuild/history-rebuild.js';
import { explainQuery } from '../sql/explain-query.js';
import { createDeliveryFigures, type DeliveryFigures } from './delivery-figures.js';
import { percentiles } from './duration-histogram.js';
import { bucketStart, FIGURE_STEPS } from './figure-cells.js';
import { expectFigures } from './figures-of-log.contract.js';
import { type FiguresQuery, figuresSql } from './figures-sql.js';
import { createFigurePartitions } from './write-figures.js';

const suite = useTestHistory({ poolSize: 8 });

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const PARTITIONS = 3;
let stored: DeliveryFigures;
let logs = 0;

beforeAll(() => {
  stored = createDeliveryFigures({ pages: suite.pages });
});

/** A fleet with logs in several partitions. */
function newFleet() {
  logs += 1;
  const fleetId = `fleet-${String(logs)}`;
  const projection = createDeliveryProjection({ dataSource: suite.dataSource, now: () => NOW });
  return {
    fleetId,
    async append(attempts: readonly WebhookAttempt[], partition = 0): Promise<void> {
      const expectedOffset = await projection.readPosition(fleetId, partition);
      const nextOffset = (expectedOffset ?? 0) + attempts.length + 1;
      const batch = { topic: fleetId, partition, expectedOffset, nextOffset, attempts };
      expect(await projection.apply(batch)).toMatchObject({ type: 'applied' });
    },
    async read(query: Partial<FiguresQuery> = {}) {
      const whole = { fleetId, startAt: NOW - 30 * DAY_MS, endAt: NOW + DAY_MS, step: 'day', groupBy: 'none' } as const;
      const result = await stored.read({ ...whole, ...query }, (row) => row);
      return result.type === 'figures' ? result.rows : [];
    },
  };
}

/** Bytes; null: there is no row. */
async function longestMinutes(fleetId: string): Promise<{ day: number; hour: number | null }> {
  const [row] = await suite.dataSource.query<{ day: number; hour: number | null }[]>(
    `SELECT max(octet_length(minutes)) FILTER (WHERE step = 1441) AS day,
            max(octet_length(minutes)) FILTER (WHERE step = 61) AS hour
       FROM delivery_figures WHERE fleet_id = $1`,
    [fleetId],
  );
  if (row === undefined) throw new Error('An aggregate has a row.');
  return row;
}

describe('the figures of deliveries (R-41)', () => {
  it('are those of the log, for any log in any batches and partitions, and again after a rebuild', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, size: 'medium' });
    const steps = fc.constantFrom('minute' as const, 'hour' as const, 'day' as const);
    const groups = fc.constantFrom('none' as const, 'subscription' as const, 'eventType' as const);
    await fc.assert(
      fc.asyncProperty(
        anyLog('any'),
        cuts,
        steps,
        groups,
        fc.boolean(),
        async (sampled, sizes, step, groupBy, rebuilt) => {
          const fleet = newFleet();
          const { fleetId } = fleet;
          const log = sampled.map((of) => ({
            ...of,
            fleetId,
            eventId: uuidOf(`${fleetId} ${of.eventId}`),
            deliveryCreatedAt: of.firstAttemptAt - 20,
          }));
          const partitionOf = ({ eventId }: WebhookAttempt) => parseInt(eventId.slice(0, 4), 16) % PARTITIONS;
          const project = async () => {
            for (let at = 0, round = 0; at < log.length; round += 1) {
              const next = at + (sizes[round % sizes.length] ?? 1);
              const batch = log.slice(at, next);
              for (let partition = 0; partition < PARTITIONS; partition += 1)
                await fleet.append(
                  batch.filter((attempt) => partitionOf(attempt) === partition),
                  partition,
                );
              at = next;
            }
          };
          await project();
          if (rebuilt) {
            const logsOf = {
              deliveries: fleet.fleetId,
              delivery_figures: fleet.fleetId,
              path_points: 'none',
              waiting_deliveries: 'none',
            };
            expect(await emptyHistory(suite.dataSource, logsOf)).toEqual({ type: 'emptied' });
            await project();
          }
          expectFigures(await fleet.read({ step, groupBy }), log, { step, groupBy });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('are those of the log when a subscription has more minutes than the row of its day, and hours that grow', async () => {
    const fleet = newFleet();
    const { fleetId } = fleet;
    const hour = NOW - DAY_MS;
    const batches = Array.from({ length: 12 }, (_, round) =>
      Array.from({ length: 70 }, (_, n) => {
        const firstAttemptAt = hour + ((n * 7 + round) % 60) * 60_000 + (n >= 60 ? HOUR_MS * (n - 60) : 0) + round;
        const eventId = uuidOf(`${fleetId} ${String(round)} ${String(n)}`);
        return attemptsOf(
          { fleetId, eventId, firstAttemptAt, deliveryCreatedAt: firstAttemptAt - 20, durationMs: 40 * (n + 1) },
          n % 3 === 0 ? 1 : 0,
          'delivered',
        );
      }),
    );
    const first = batches.map((batch) => batch.flatMap(([attempt]) => attempt ?? []));
    const retries = batches.flatMap((batch) => batch.flatMap(([, ...others]) => others));
    for (const attempts of [...first, retries]) {
      await fleet.append(attempts);
      const longest = await longestMinutes(fleetId);
      // A batch of its own, beside what had room.
      expect(longest.day).toBeLessThan(5_000);
      expect(longest.hour).toBeLessThan(12_000);
    }
    expect((await longestMinutes(fleetId)).hour).toBeGreaterThan(0);
    const log = [...first.flat(), ...retries];
    for (const step of ['minute', 'hour', 'day'] as const)
      for (const groupBy of ['none', 'subscription', 'eventType'] as const)
        expectFigures(await fleet.read({ step, groupBy }), log, { step, groupBy });
    const window = { startAt: hour + 30 * 60_000, endAt: hour + 40 * 60_000 };
    const inWindow = log.filter(({ firstAttemptAt: at }) => at >= window.startAt && at < window.endAt);
    expectFigures(await fleet.read({ step: 'minute', ...window }), inWindow, { step: 'minute', groupBy: 'none' });
  });

  it('of a minute that many batches add to stay with their day', async () => {
    const fleet = newFleet();
    const { fleetId } = fleet;
    const log = Array.from({ length: 120 }, (_, n) =>
      attemptOf({ fleetId, eventId: uuidOf(`${fleetId} ${String(n)}`) }),
    );
    for (let at = 0; at < log.length; at += 2) await fleet.append(log.slice(at, at + 2));
    expect(await longestMinutes(fleetId)).toEqual({ day: expect.any(Number), hour: null });
    expectFigures(await fleet.read({ step: 'minute' }), log, { step: 'minute', groupBy: 'none' });
  });

  it('have those that earlier versions wrote, in rows of minutes, hours and days', async () => {
    const fleet = newFleet();
    const { fleetId } = fleet;
    const attempt = attemptOf({ fleetId });
    const { subscriptionId, eventType, firstAttemptAt } = attempt;
    await createFigurePartitions(suite.dataSource).ensurePartitions(NOW, NOW);
    for (const step of ['minute', 'hour', 'day'] as const)
      await suite.dataSource.query(
        `INSERT INTO delivery_figures (bucket_at, step, partition, fleet_id, subscription_id, event_type, figures)
         VALUES ($1, $2, 0, $3, $4, $5, '[2,1,0,0,0,0,[1,0,0,1,0,0],[45,1],[]]')`,
        [new Date(bucketStart(firstAttemptAt, step)), FIGURE_STEPS[step], fleetId, subscriptionId, eventType],
      );
    const minutes = Array.from({ length: 60 }, (_, n) => ({
      ...attempt,
      eventId: uuidOf(`${fleetId} ${String(n)}`),
      firstAttemptAt: firstAttemptAt + n * 60_000,
    }));
    await fleet.append(minutes);
    const startAt = (step: 'minute' | 'hour' | 'day') => bucketStart(firstAttemptAt, step);
    for (const [step, count] of [['minute', 1] as const, ['hour', 60] as const, ['day', 60] as const]) {
      const [row] = await fleet.read({ step });
      expect(row).toMatchObject({ startAt: startAt(step), figures: { started: 2 + count, delivered: 1 + count } });
    }
  });

  it('are in no row that earlier versions, which may run beside this one, read or add to', async () => {
    const fleet = newFleet();
    const { fleetId } = fleet;
    const log = Array.from({ length: 60 }, (_, n) =>
      attemptOf({ fleetId, eventId: uuidOf(`${fleetId} ${String(n)}`), firstAttemptAt: NOW - n * 60_000 }),
    );
    await fleet.append(log);
    const theirs = Object.values(FIGURE_STEPS);
    const rows = await suite.dataSource.query<{ step: number }[]>(
      'SELECT DISTINCT step FROM delivery_figures WHERE fleet_id = $1 ORDER BY step',
      [fleetId],
    );
    expect(rows.map(({ step }) => step)).toEqual([61, 1_441]);
    expect(rows.filter(({ step }) => theirs.some((one) => one === step))).toEqual([]);
  });

  it('count a late attempt in the bucket of its first attempt', async () => {
    const fleet = newFleet();
    const [first, second] = attemptsOf({ fleetId: fleet.fleetId, firstAttemptAt: NOW - 2 * DAY_MS }, 1, 'delivered');
    if (first === undefined || second === undefined) throw new Error('two attempts');
    await fleet.append([first]);
    expect(await fleet.read()).toMatchObject([{ figures: { started: 1, delivered: 0 } }]);
    await fleet.append([{ ...second, startedAt: NOW - 10, dueAt: NOW - 1_010 }]);

    const rows = await fleet.read({ step: 'minute' });
    expect(rows).toMatchObject([
      { startAt: NOW - 2 * DAY_MS, figures: { started: 1, delivered: 1, retries: 1, attempts: [1, 0, 0, 1, 0, 0] } },
    ]);
    expect(percentiles(rows[0]?.figures.retryLateness ?? [], [0.5])).toEqual([expect.closeTo(1_000, -2)]);
  });

  it('follow a delivery whose end changes', async () => {
    const fleet = newFleet();
    const accepted = attemptOf({ fleetId: fleet.fleetId });
    await fleet.append([accepted]);
    const expired = { outcome: 'expired', decision: 'expired', errorCode: 'expired', statusCode: null };
    await fleet.append([{ ...accepted, attempt: 2, body: null, ...expired }]);
    const [row] = await fleet.read();
    expect(row?.figures).toMatchObject({ started: 1, delivered: 0, expired: 1, attempts: [1, 0, 0, 0, 0, 0] });
    expect(row?.figures.latency).toEqual([]);
  });

  it.each(['expired', 'subscription_disabled', 'subscription_deleted'])(
    'count no attempt and no retry where a delivery ends by %s',
    async (decision) => {
      const fleet = newFleet();
      const [first] = attemptsOf({ fleetId: fleet.fleetId }, 2, 'delivered');
      if (first === undefined) throw new Error('Nothing was made.');
      const outcome = decision === 'expired' ? 'expired' : 'failed';
      const end = { decision, outcome, errorCode: decision, statusCode: null };
      await fleet.append([first, { ...first, ...end, attempt: 2, body: null }]);
      await fleet.append([{ ...first, ...end, eventId: uuidOf(`${fleet.fleetId} only`) }]);
      const [row] = await fleet.read();
      expect(row?.figures).toMatchObject({ started: 2, [outcome]: 2, retries: 0, attempts: [0, 0, 0, 1, 0, 0] });
    },
  );

  it('are filtered by fleet, window, subscription and event type', async () => {
    const fleet = newFleet();
    const types = ['position', 'ignition_on', 'geofence_in'];
    const log = types.map((eventType, index) =>
      attemptOf({
        fleetId: fleet.fleetId,
        eventId: uuidOf(`${fleet.fleetId} ${eventType}`),
        eventType,
        subscriptionId: uuidOf(eventType),
        firstAttemptAt: NOW - index * DAY_MS,
      }),
    );
    await fleet.append(log);
    await newFleet().append(log.map((attempt) => ({ ...attempt, fleetId: 'another' })));
    const started = async (query: Partial<FiguresQuery>) =>
      (await fleet.read({ step: 'minute', ...query })).reduce((sum, { figures }) => sum + figures.started, 0);

    expect(await started({})).toBe(3);
    expect(await started({ eventTypes: types.slice(1) })).toBe(2);
    expect(await started({ subscriptionId: uuidOf('position') })).toBe(1);
    expect(await started({ subscriptionId: uuidOf('position'), eventTypes: ['geofence_in'] })).toBe(0);
    expect(await started({ startAt: NOW - 1.5 * DAY_MS })).toBe(2);
    expect(await started({ endAt: NOW - DAY_MS })).toBe(1);
  });

  it.each(['subscription', 'eventType'] as const)(
    'are split by %s whatever text the log has there',
    async (groupBy) => {
      const fleet = newFleet();
      const { fleetId } = fleet;
      const log = ['[', ']]', 'a,[1]],b', 'ü "\\', 'a,[1]],b'].map((text, n) =>
        attemptOf({ fleetId, eventId: uuidOf(`${fleetId} ${String(n)}`), eventType: text, subscriptionId: text }),
      );
      await fleet.append(log);
      expectFigures(await fleet.read({ groupBy }), log, { step: 'day', groupBy });
    },
  );

  it.each(['none', 'subscription', 'eventType'] as const)(
    'are read from the primary key of their day, without a row beyond the hours of the window (split by %s)',
    async (groupBy) => {
      const fleet = newFleet();
      const { fleetId } = fleet;
      const minutes = [0, 1, 2, 3].flatMap((days) =>
        Array.from({ length: 200 }, (_, minute) => NOW - days * DAY_MS - minute * 60_000),
      );
      const deliveryAt = (firstAttemptAt: number) =>
        attemptOf({ fleetId, eventId: uuidOf(`${fleetId} ${String(firstAttemptAt)}`), firstAttemptAt });
      await fleet.append(minutes.map(deliveryAt));
      const window = { startAt: NOW - 2 * DAY_MS - 70 * 60_000, endAt: NOW - 2 * DAY_MS - 10 * 60_000 };
      const plan = await explainQuery(
        suite.pages,
        fleetId,
        figuresSql({ fleetId, ...window, step: 'minute', groupBy }, 1_000_000),
      );
      const scans = plan.filter((node) => node['Relation Name'] !== undefined && node['Actual Loops'] > 0);
      const day = new Date(window.startAt).toISOString().slice(0, 10).replaceAll('-', '');
      const read = { 'Relation Name': `delivery_figures_${day}`, 'Index Name': 'delivery_figures_pkey' };
      // The rows of the day, of two hours, and minutes as earlier versions wrote them.
      expect(scans).toMatchObject([1, 2, 0].map((rows) => ({ ...read, 'Actual Rows': rows })));
      expect(scans.filter((scan) => (scan['Rows Removed by Filter'] ?? 0) > 0)).toEqual([]);
      expect(plan.map((node) => node['Node Type'])).not.toContain('Sort');
    },
  );

  it('of one subscription are written by projectors of several partitions at once', async () => {
    const fleet = newFleet();
    const log = Array.from({ length: 60 }, (_, n) =>
      attemptOf({ fleetId: fleet.fleetId, eventId: uuidOf(`${fleet.fleetId} ${String(n)}`), firstAttemptAt: NOW - n }),
    );
    await Promise.all([0, 1, 2].map((n) => fleet.append(log.slice(n * 20, n * 20 + 20), n)));
    expectFigures(await fleet.read(), log, { step: 'day', groupBy: 'none' });
  });
});
