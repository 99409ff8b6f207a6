import { beforeEach, describe, expect, it } from '@jest/globals';
import type { WebhookAttempt } from '@waypost/domain';
import type { ApplyResult } from '@waypost/history-store';
import type { EndedSpan } from '@waypost/platform';
import { StreamRecord } from '@waypost/streams';
import { type AttemptsHarness, createAttemptsHarness, first, NOW } from '../testing/attempts-task-harness.js';
import { sampleAttempt } from '../testing/sample-attempt.js';

let codecs: AttemptsHarness['codecs'];
let build: AttemptsHarness['build'];
let batchOf: AttemptsHarness['batchOf'];

beforeEach(async () => {
  ({ codecs, build, batchOf } = await createAttemptsHarness());
});

function gone(): Promise<never> {
  return Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
}

describe('the attempts task', () => {
  it('records a span for each attempt of a sampled trace when it is in the database, and not before (R-46)', async () => {
    const spans: EndedSpan[] = [];
    const recorder = { record: (span: EndedSpan) => void spans.push(span), close: () => Promise.resolve() };
    let recordedBefore = -1;
    const { task, processLater } = build({
      recorder,
      projection: ({ apply }) => ({
        apply: async (batch) => {
          const result = await apply(batch);
          recordedBefore = spans.length;
          return result;
        },
      }),
    });
    await task.open();
    const batch = batchOf(
      [sampleAttempt('fleet-a', 1, 1, NOW - 60_000), sampleAttempt('fleet-a', 2, 1, NOW - 50_000)],
      2,
    );
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = [{ key: 'traceparent', value: Buffer.from(traceparent) }];
    const records = batch.records.map((record, index) => {
      const { offset, timestamp, key, value } = record;
      return index === 1 ? StreamRecord.of({ offset, timestamp, key, value, headers }) : record;
    });
    await processLater({ ...batch, records });
    expect(recordedBefore).toBe(0);
    expect(spans).toMatchObject([
      {
        name: 'process webhook.attempts',
        parent: { spanId: '00f067aa0ba902b7' },
        attributes: { 'messaging.kafka.offset': 1, 'messaging.destination.partition.id': '2' },
      },
    ]);
    expect(spans[0]?.context?.spanId).not.toBe('00f067aa0ba902b7');
    await processLater({ ...batchOf([], 3), records: [] });
    expect(spans).toHaveLength(1);
  });

  it('starts at the beginning of the log when nothing was projected', async () => {
    const { task, commits } = build({ start: 7 });
    expect(await task.open()).toEqual({ position: 7 });
    expect(commits).toEqual([7]);
  });

  it('keeps the history from being called complete before all partitions of the log are read (R-33)', async () => {
    const { task, begun } = build({ partitions: 6 });
    await task.open();
    expect(begun).toEqual([6]);
  });

  it('does not begin, to try again, while the number of partitions is unknown (R-33)', async () => {
    const { task, begun } = build({ partitions: null });
    await expect(task.open()).rejects.toMatchObject({ code: 'TOPIC_MISSING' });
    expect(begun).toEqual([]);
  });

  it('continues from the position in the database and moves the group offset there', async () => {
    const { task, store, commits, lags } = build();
    const batch = { topic: 'webhook.attempts', partition: 2, expectedOffset: null, nextOffset: 41, attempts: [] };
    await store.projection.apply(batch);

    expect(await task.open()).toEqual({ position: 41 });
    expect(commits).toEqual([41]);
    expect(lags).toEqual([59]);
  });

  it('writes the rows of a batch and then commits the offset after it', async () => {
    const { task, find, commits, lags, store } = build();
    await task.open();
    await task.process(batchOf([first(1), first(2)], 3));

    expect((await find()).map(({ deviceId }) => deviceId)).toEqual(['device-1', 'device-2']);
    expect(await store.projection.readPosition('webhook.attempts', 2)).toBe(3);
    expect(commits).toEqual([0, 3]);
    expect(lags).toEqual([100, 97]);
  });

  it('hands on every attempt of a batch that is decoded in pieces, in the order of the log', async () => {
    const applied: WebhookAttempt[] = [];
    const { task } = build({
      projection: (real) => ({
        apply: (batch) => {
          applied.push(...batch.attempts);
          return real.apply(batch);
        },
      }),
    });
    const log = Array.from({ length: 450 }, (_, n) => first(n));
    await task.open();
    await task.process(batchOf(log, log.length));
    expect(applied.map(({ eventId }) => eventId)).toEqual(log.map(({ eventId }) => eventId));
  });

  it('moves on over a batch that holds no record', async () => {
    const { task, store, commits } = build();
    await task.open();
    await task.process(batchOf([], 5));
    expect(await store.projection.readPosition('webhook.attempts', 2)).toBe(5);
    expect(commits).toEqual([0, 5]);
  });

  it.each([
    ['has moved the position', 9],
    ['has moved it to the end of the same batch', 2],
  ])('rejects, and commits nothing, when another projector %s', async (_, nextOffset) => {
    const { task, store, find, commits } = build();
    await task.open();
    const moved = { topic: 'webhook.attempts', partition: 2, expectedOffset: null, nextOffset, attempts: [] };
    await store.projection.apply(moved);

    await expect(task.process(batchOf([first(1)], 2))).rejects.toThrow(
      `The stored position of webhook.attempts-2 is ${String(nextOffset)} and not none`,
    );
    expect(await find()).toEqual([]);
    expect(commits).toEqual([0]);
  });

  describe('without input', () => {
    it('rejects when another projector has moved the position, so that it continues from there', async () => {
      const { task, store, clock } = build();
      await task.open();
      await task.process(batchOf([first(1)], 2));
      await task.idle?.();
      const moved = { topic: 'webhook.attempts', partition: 2, expectedOffset: 2, nextOffset: 9, attempts: [] };
      await store.projection.apply(moved);
      clock.nowMs += 1_000;

      await expect(task.idle?.()).rejects.toThrow('The stored position of webhook.attempts-2 is 9 and not 2');
    });

    it('finds out that the history has been emptied', async () => {
      let isEmptied = false;
      const { task } = build({
        projection: (real) => ({
          readPosition: (topic, partition) => (isEmptied ? Promise.resolve(null) : real.readPosition(topic, partition)),
        }),
      });
      await task.open();
      await task.process(batchOf([first(1)], 2));
      isEmptied = true;

      await expect(task.idle?.()).rejects.toThrow('is none and not 2');
    });

    it('looks at the stored position no more than once a second', async () => {
      let looks = 0;
      const { task, clock } = build({
        projection: (real) => ({
          readPosition: (topic, partition) => {
            looks += 1;
            return real.readPosition(topic, partition);
          },
        }),
      });
      await task.open();
      for (let turns = 0; turns < 10; turns++) {
        clock.nowMs += 200;
        await task.idle?.();
      }
      expect(looks).toBe(1 + 2);
    });
  });

  it('tries again for as long as the database is away', async () => {
    let tries = 0;
    const { task, find, events } = build({
      projection: (real) => ({ apply: (batch) => (++tries < 4 ? gone() : real.apply(batch)) }),
    });
    await task.open();
    await task.process(batchOf([first(1)], 2));

    expect(await find()).toHaveLength(1);
    expect(events).toEqual(['database_away', 'database_back', 'applied 1']);
  });

  it('takes a batch as applied when the connection broke after the commit', async () => {
    let tries = 0;
    const { task, find, commits, events, processLater } = build({
      projection: (real) => ({
        apply: async (batch): Promise<ApplyResult> => {
          const result = await real.apply(batch);
          return ++tries === 1 ? gone() : result;
        },
      }),
    });
    await task.open();
    await task.process(batchOf([first(1)], 2));
    await processLater(batchOf([first(2)], 3));

    expect(await find()).toHaveLength(2);
    expect(commits).toEqual([0, 2, 3]);
    // What the first of the two wrote is not known.
    expect(events.filter((event) => event.startsWith('applied'))).toEqual(['applied 1']);
  });

  it('gives up waiting for the database when it is interrupted', async () => {
    const { task, events } = build({ projection: () => ({ apply: gone }) });
    await task.open();
    const processing = task.process(batchOf([first(1)], 2));
    setTimeout(() => task.revoke?.(), 5);

    await expect(processing).rejects.toThrow('gone');
    await task.close();
    expect(events).toEqual(['database_away', 'closed']);
  });

  it('gives up waiting for the database when it is closed', async () => {
    const { task } = build({ projection: () => ({ apply: gone }) });
    await task.open();
    const processing = task.process(batchOf([first(1)], 2));
    setTimeout(() => void task.close(), 5);

    await expect(processing).rejects.toThrow('gone');
  });

  it('quarantines what is not an attempt, or what no row can hold, and stores the others (R-2)', async () => {
    const { task, quarantined, find, fatal, store } = build();
    await task.open();
    const good = batchOf([first(1), first(2)], 7);
    const bad = (offset: number, value: Buffer | null) => StreamRecord.of({ offset, timestamp: NOW, key: null, value });
    const encoded = (more: Partial<WebhookAttempt>) => codecs.webhookAttempts.encode({ ...first(3), ...more });
    const unusable = [
      bad(2, Buffer.from('no avro')),
      bad(3, null),
      bad(4, encoded({ eventId: 'not a UUID' })),
      bad(5, encoded({ startedAt: 2 ** 50 })),
      bad(6, encoded({ dueAt: 2 ** 50 })),
    ];

    await task.process({ ...good, records: [...unusable.slice(0, 2), ...good.records, ...unusable.slice(2)] });

    expect(quarantined.map(({ record, reason }) => [record.offset, reason])).toEqual([
      [2, 'malformed'],
      [3, 'malformed'],
      [4, 'invalid_field'],
      [5, 'invalid_field'],
      [6, 'invalid_field'],
    ]);
    expect((await find()).map(({ deviceId }) => deviceId)).toEqual(['device-1', 'device-2']);
    expect(fatal).toEqual([]);
    expect(await store.projection.readPosition('webhook.attempts', 2)).toBe(7);
  });

  it('does not move past an unusable record before the quarantine has it', async () => {
    const { task, quarantine, store, commits } = build();
    quarantine.put = () => Promise.reject(new Error('no broker'));
    await task.open();
    const records = [StreamRecord.of({ offset: 0, timestamp: NOW, key: null, value: Buffer.from('no avro') })];

    await expect(task.process({ ...batchOf([], 1), records })).rejects.toThrow('no broker');
    expect(await store.projection.readPosition('webhook.attempts', 2)).toBeNull();
    expect(commits).toEqual([0]);
  });

  it('stops the process when the database belongs to another log', async () => {
    const { task, store, fatal } = build();
    const batch = { topic: 'webhook.attempts', partition: 2, expectedOffset: null, nextOffset: 101, attempts: [] };
    await store.projection.apply(batch);

    await expect(task.open()).rejects.toThrow('belongs to another log');
    expect(fatal).toHaveLength(1);
  });

  it('continues after records that the log dropped before they were projected', async () => {
    const { task, store, events } = build({ start: 30 });
    const batch = { topic: 'webhook.attempts', partition: 2, expectedOffset: null, nextOffset: 5, attempts: [] };
    await store.projection.apply(batch);

    expect(await task.open()).toEqual({ position: 30 });
    await task.process(batchOf([first(1)], 32));
    expect(await store.projection.readPosition('webhook.attempts', 2)).toBe(32);
    expect(events).toEqual(['log_expired_unprojected', 'applied 1']);
  });
});
