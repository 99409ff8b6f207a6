import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryHistory, DeliveryQuery, WebhookAttempt } from '@waypost/domain';
import { anyLog, attemptOf, attemptsOf, expectedRecords, NOW, uuidOf, withProbes } from './attempt-samples.contract.js';
import { describePages, inPageOrder, type TestLog } from './delivery-pages.contract.js';
import type { ApplyResult, DeliveryProjection } from './delivery-projection.js';

export interface OpenedDeliveryStore {
  readonly projection: DeliveryProjection;
  readonly history: DeliveryHistory;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const ALL_OF_IT = { startAt: NOW - 30 * DAY_MS, endAt: NOW + DAY_MS, limit: 1_000 };

/** The behavior of every store of deliveries. `open` uses a fixed clock: NOW. */
export function describeDeliveryStore(kind: string, open: () => Promise<OpenedDeliveryStore>, numRuns: number): void {
  describe(`delivery store (${kind})`, () => {
    let store: OpenedDeliveryStore;
    let logs = 0;

    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    function newLog(): TestLog {
      logs += 1;
      const fleetId = `fleet-${String(logs)}`;
      const topic = `attempts-${String(logs)}`;
      let position: number | null = null;
      const findPage = (query: Partial<DeliveryQuery> = {}) =>
        store.history.findDeliveries({ fleetId, ...ALL_OF_IT, ...query });
      return {
        fleetId,
        topic,
        eventId: (name: string): string => uuidOf(`${fleetId} ${name}`),
        async append(attempts: readonly WebhookAttempt[]): Promise<ApplyResult> {
          const nextOffset = (position ?? 0) + attempts.length + 1;
          const batch = { topic, partition: 0, expectedOffset: position, nextOffset, attempts };
          const result = await store.projection.apply(batch);
          if (result.type === 'applied') position = nextOffset;
          return result;
        },
        findPage,
        find: async (query) => (await findPage(query)).records,
      };
    }

    describe('projection', () => {
      it('creates a delivery from an accepted first attempt', async () => {
        const log = newLog();
        await log.append([attemptOf({ fleetId: log.fleetId, startedAt: NOW - 5_000, durationMs: 40 })]);

        expect(await log.find()).toEqual([
          {
            eventId: uuidOf(`event of ${log.fleetId}`),
            series: 0,
            replayId: null,
            eventType: 'position',
            eventTime: NOW - 7_500,
            deviceId: 'device-1',
            subscriptionId: uuidOf('subscription'),
            fleetId: log.fleetId,
            url: 'https://receiver.example/hook',
            format: 'v1',
            body: '{"eventId":"1"}',
            createdAt: NOW - 5_020,
            firstAttemptAt: NOW - 5_000,
            lastAttemptAt: NOW - 5_000,
            deliveredAt: NOW - 4_960,
            nextAttemptAt: null,
            status: 'delivered',
            statusCode: 200,
            attempts: [
              {
                attempt: 1,
                probe: false,
                probes: 0,
                startedAt: NOW - 5_000,
                dueAt: NOW - 5_005,
                durationMs: 40,
                statusCode: 200,
                errorCode: null,
                errorDetail: null,
                responseBody: null,
                outcome: 'delivered',
                decision: 'accepted',
              },
            ],
          },
        ]);
      });

      it('keeps a retried delivery pending until its last attempt, whatever the batches', async () => {
        const log = newLog();
        const [first, second, third] = attemptsOf({ fleetId: log.fleetId }, 2, 'delivered') as [
          WebhookAttempt,
          WebhookAttempt,
          WebhookAttempt,
        ];

        await log.append([first]);
        const [pending] = await log.find();
        await log.append([second, third]);
        const [delivered] = await log.find();

        expect(pending).toMatchObject({ status: 'pending', statusCode: 503, nextAttemptAt: first.startedAt + 2_000 });
        expect(pending?.deliveredAt).toBeNull();
        expect(delivered).toMatchObject({ status: 'delivered', statusCode: 200, nextAttemptAt: null });
        expect(delivered?.firstAttemptAt).toBe(first.startedAt);
        expect(delivered?.lastAttemptAt).toBe(third.startedAt);
        expect(delivered?.attempts.map(({ attempt, statusCode }) => [attempt, statusCode])).toEqual([
          [1, 503],
          [2, 503],
          [3, 200],
        ]);
        expect(delivered?.body).toBe(first.body);
      });

      it('has no status code if the last attempt got no response', async () => {
        const log = newLog();
        await log.append(attemptsOf({ fleetId: log.fleetId }, 4, 'timed_out'));

        const [failed] = await log.find();
        expect(failed).toMatchObject({ status: 'failed', statusCode: null, deliveredAt: null, nextAttemptAt: null });
        expect(failed?.attempts.at(-1)).toMatchObject({
          attempt: 5,
          statusCode: null,
          errorCode: 'timeout',
          errorDetail: 'no response within 5000 ms',
        });
      });

      it('shows a delivery that expired as failed, with that error, before its first attempt too (R-29)', async () => {
        const log = newLog();
        const end = { outcome: 'expired', decision: 'expired', statusCode: null, errorCode: 'expired' };
        await log.append([attemptOf({ fleetId: log.fleetId, ...end })]);

        expect(await log.find({ status: 'failed' })).toMatchObject([
          { status: 'failed', statusCode: null, nextAttemptAt: null, deliveredAt: null, attempts: [end] },
        ]);
      });

      it.each(['expired', 'disabled'] as const)(
        'takes its last time and its missing status code from an end without an attempt (R-31): %s',
        async (reason) => {
          const log = newLog();
          const lines = attemptsOf({ fleetId: log.fleetId }, 2, reason);
          await log.append(lines);
          const [first, second, end] = lines;
          expect(second?.statusCode).not.toBeNull();

          expect(await log.find({ status: 'failed' })).toMatchObject([
            { firstAttemptAt: first?.startedAt, lastAttemptAt: end?.startedAt, statusCode: null },
          ]);
          expect(await log.find({ statusCode: second?.statusCode ?? 0 })).toEqual([]);
        },
      );

      it.each([1, 3])(
        'keeps the url of the first attempt when later ones go elsewhere: batches of %d',
        async (batch) => {
          const log = newLog();
          const attempts = attemptsOf({ fleetId: log.fleetId }, 2, 'delivered').map((attempt) => ({
            ...attempt,
            url: `https://receiver.example/${String(attempt.attempt)}`,
          }));
          for (let from = 0; from < attempts.length; from += batch)
            await log.append(attempts.slice(from, from + batch));
          // Some of what is stored comes again beside what is new.
          await log.append(attempts);

          expect(await log.find()).toMatchObject([{ status: 'delivered', url: 'https://receiver.example/1' }]);
        },
      );

      it('shows probes as lines of their own: all of 40, of more the first 20 and the newest 20 (R-24, R-29)', async () => {
        const log = newLog();
        const attempts = withProbes(attemptsOf({ fleetId: log.fleetId }, 1, 'delivered'), 1_000, 1);
        for (const attempt of attempts.slice(0, 41)) await log.append([attempt]);
        const [all] = await log.find();
        await log.append(attempts.slice(30, 500));
        await log.append(attempts.slice(500));
        await log.append(attempts.slice(800));
        const [shortened] = await log.find();

        expect(all?.attempts.map(({ attempt, probes }) => [attempt, probes])).toEqual([
          [1, 0],
          ...Array.from({ length: 40 }, (_, index) => [2, index + 1]),
        ]);
        expect(shortened?.attempts.map(({ attempt, probe, probes }) => [attempt, probe, probes])).toEqual([
          [1, false, 0],
          ...Array.from({ length: 20 }, (_, index) => [2, true, index + 1]),
          ...Array.from({ length: 20 }, (_, index) => [2, true, index + 981]),
          [2, false, 1_000],
        ]);
        expect(shortened).toMatchObject({ status: 'delivered', body: attempts[0]?.body });
      });

      it('begins a delivery with a probe that has the body', async () => {
        const log = newLog();
        const attempts = withProbes(attemptsOf({ fleetId: log.fleetId }, 0, 'delivered'), 2, 0);
        for (const attempt of attempts) await log.append([attempt]);

        expect(await log.find()).toEqual(expectedRecords(attempts));
        expect((await log.find())[0]?.attempts.map(({ attempt, probe }) => [attempt, probe])).toEqual([
          [1, true],
          [1, true],
          [1, false],
        ]);
      });

      it('keeps every text unchanged', async () => {
        const log = newLog();
        const body = '{"a":"\\u0000 \\" \\\\ é 🚚","b":[null,"NULL",{}],"c":"a,b;{}"}\n ';
        const texts = { deviceId: `d'"\\{},é🚚 NULL `, url: 'https://x.example/?a={1,"2"}', body };
        await log.append([attemptOf({ fleetId: log.fleetId, ...texts })]);

        expect((await log.find({ deviceId: texts.deviceId }))[0]).toMatchObject(texts);
      });

      it('stores and finds U+0000 in a device name as U+FFFD', async () => {
        const log = newLog();
        await log.append([attemptOf({ fleetId: log.fleetId, deviceId: 'a\0b' })]);

        expect((await log.find({ deviceId: 'a\0b' })).map(({ deviceId }) => deviceId)).toEqual(['a\uFFFDb']);
      });

      it('adds an attempt after a response with U+0000, also where the log repeats that one', async () => {
        const log = newLog();
        const [first, second] = attemptsOf({ fleetId: log.fleetId }, 2, 'delivered');
        if (first === undefined || second === undefined) throw new Error('There are two attempts.');
        const answered = { ...first, responseBody: 'a\0b', errorDetail: '\0' };
        await log.append([answered]);
        await log.append([answered, second]);

        const [found] = await log.find();
        expect(found?.attempts.map(({ responseBody, errorDetail }) => [responseBody, errorDetail])).toEqual([
          ['a\uFFFDb', '\uFFFD'],
          [null, null],
        ]);
      });

      it('does not add an attempt that a delivery already has, however it is repeated', async () => {
        const log = newLog();
        const attempts = attemptsOf({ fleetId: log.fleetId }, 2, 'failed');
        await log.append([...attempts.slice(0, 2), ...attempts.slice(0, 2)]);
        await log.append(attempts.slice(0, 2));
        await log.append(attempts);
        await log.append(attempts.slice(0, 1));

        expect(await log.find()).toEqual(expectedRecords(attempts));
      });

      it('skips attempts of a day that is older than the retention (R-35), and keeps all of the oldest day', async () => {
        const log = newLog();
        const oldestDay = Math.floor(NOW / DAY_MS) * DAY_MS - 15 * DAY_MS;
        const sample = (name: string, firstAttemptAt: number) =>
          attemptOf({ fleetId: log.fleetId, eventId: log.eventId(name), firstAttemptAt });
        const result = await log.append([sample('old', oldestDay - 1), sample('kept', oldestDay)]);

        expect(result).toMatchObject({ type: 'applied', deliveries: 1, expiredAttempts: 1 });
        expect((await log.find()).map(({ eventId }) => eventId)).toEqual([log.eventId('kept')]);
      });

      it('leaves out and counts deliveries whose first attempt is not in the log', async () => {
        const log = newLog();
        const lost = attemptsOf({ fleetId: log.fleetId, eventId: log.eventId('lost') }, 2, 'delivered').slice(1);
        const whole = attemptsOf({ fleetId: log.fleetId, eventId: log.eventId('whole') }, 1, 'delivered');
        const result = await log.append([...lost, ...whole]);

        expect(result).toMatchObject({ type: 'applied', deliveries: 1, headlessDeliveries: 1 });
        expect(await log.find()).toEqual(expectedRecords(whole));
      });

      it('keeps a replay of an event separate from its first sending, with the id of the replay (R-30)', async () => {
        const log = newLog();
        const replayId = uuidOf('replay');
        const first = attemptsOf({ fleetId: log.fleetId }, 0, 'failed');
        const replay = attemptsOf({ fleetId: log.fleetId, series: 1, replayId }, 1, 'delivered');
        await log.append([...first, ...replay.slice(0, 1)]);
        await log.append(replay.slice(1));

        expect((await log.find()).map((found) => [found.series, found.status, found.replayId])).toEqual([
          [0, 'failed', null],
          [1, 'delivered', replayId],
        ]);
      });
    });

    describe('position', () => {
      it('is null before the first batch and moves with each one, even an empty one', async () => {
        const log = newLog();
        expect(await store.projection.readPosition(log.topic, 0)).toBeNull();
        await log.append([]);
        expect(await store.projection.readPosition(log.topic, 0)).toBe(1);
        await log.append([attemptOf({ fleetId: log.fleetId })]);
        expect(await store.projection.readPosition(log.topic, 0)).toBe(3);
        expect(await store.projection.readPosition(log.topic, 1)).toBeNull();
      });

      it('refuses a batch that starts elsewhere, writes nothing of it and returns the stored position', async () => {
        const log = newLog();
        await log.append([]);
        const attempts = [attemptOf({ fleetId: log.fleetId })];
        const batch = { topic: log.topic, partition: 0, nextOffset: 9, attempts };

        for (const expectedOffset of [null, 0, 2]) {
          expect(await store.projection.apply({ ...batch, expectedOffset })).toEqual({
            type: 'superseded',
            storedOffset: 1,
          });
        }
        expect(await log.find()).toEqual([]);
        expect(await store.projection.apply({ ...batch, partition: 1, expectedOffset: 4 })).toEqual({
          type: 'superseded',
          storedOffset: null,
        });
      });

      it('gives the same rows for any log in any batches', async () => {
        const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 });
        await fc.assert(
          fc.asyncProperty(anyLog('any'), cuts, async (sampled, sizes) => {
            const log = newLog();
            const attempts = sampled.map((attempt) => ({
              ...attempt,
              fleetId: log.fleetId,
              eventId: log.eventId(attempt.eventId),
            }));
            for (let from = 0, round = 0; from < attempts.length; round += 1) {
              const size = sizes[round % sizes.length] ?? 1;
              await log.append(attempts.slice(from, from + size));
              from += size;
            }

            expect(await log.find()).toEqual(expectedRecords(attempts).sort(inPageOrder));
          }),
          { numRuns },
        );
      });
    });

    describe('pages', () => describePages(newLog, numRuns));
  });
}
