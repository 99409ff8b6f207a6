import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs, topics } from '@waypost/contracts';
import type { OperationalEvent } from '@waypost/domain';
import { type OutgoingRecord, partitionName } from '@waypost/streams';
import type { BaseOffsets, FencedWriter } from '@waypost/streams/admin';
import { createMemoryRegistry } from '../../../../../test/support/registry/memory-registry.js';
import { flushed } from '../../../../../test/support/until.js';
import { aDelivery, anAttempt } from '../testing/sender-samples.js';
import { AttemptLog } from './attempt-log.js';

const ATTEMPTS = { topic: topics.webhookAttempts.name, partition: 3 };
const OPERATIONS = { topic: topics.webhookOperations.name, partition: 3 };
const state: OutgoingRecord = { topic: 'states', partition: 3, key: Buffer.from('s'), value: null };

let codecs: AvroCodecs;
let appends: { readonly records: OutgoingRecord[]; readonly end: (base: number) => void; readonly fail: () => void }[];
let requested: { flush(): number }[];
let states: OutgoingRecord[];
let happened: string[];
let log: AttemptLog;

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await Promise.all([codecs.webhookAttempts.prepare(), codecs.webhookOperations.prepare()]);
  [appends, requested, states, happened] = [[], [], [], []];
  const append = (records: readonly OutgoingRecord[]) =>
    new Promise<BaseOffsets>((resolve, reject) => {
      appends.push({
        records: [...records],
        end: (base) => {
          resolve(new Map([[partitionName(ATTEMPTS), base]]));
        },
        fail: () => {
          reject(new Error('fenced'));
        },
      });
    });
  log = new AttemptLog({
    writer: { append } as unknown as FencedWriter,
    codecs,
    partition: 3,
    attemptsEnd: 100,
    flushScheduler: { request: (one) => void requested.push(one) },
    states: () => ({ records: states.splice(0), written: () => void happened.push('states written') }),
    onFlushed: () => void happened.push('flushed'),
    onFailure: ({ message }) => void happened.push(message),
  });
});

function append(n: number): void {
  log.append(
    anAttempt(n, {}),
    null,
    (isDurable) => void happened.push(`${String(n)} ${isDurable ? 'durable' : 'lost'}`),
  );
}

function publish(): void {
  const { subscriptionId, fleetId, eventId } = aDelivery(1);
  const event: OperationalEvent = {
    id: 'id',
    subscriptionId,
    fleetId,
    eventId,
    type: 'suspended',
    occurredAt: 1,
    reason: 'for a test',
    deliveryOffset: 0,
    statusCode: 503,
    errorCode: null,
  };
  log.publish(event);
}

/** The flush scheduler's turn. @returns how many records were sent */
function flush(): number {
  const [first, ...more] = requested.splice(0);
  if (!first || more.length > 0) throw new Error('one request expected');
  return first.flush();
}

async function ends(index: number, base: number): Promise<void> {
  appends[index]?.end(base);
  await flushed();
}

function written(index: number): string[] {
  return (appends[index]?.records ?? []).map(
    ({ topic, partition, key }) => `${topic} ${String(partition)} ${String(key)}`,
  );
}

const attemptOf1 = `${ATTEMPTS.topic} 3 subscription-1`;

describe('the attempt log (R-24)', () => {
  it('writes what has come together: attempts, operational events and states, keyed by subscription', async () => {
    append(1);
    append(2);
    publish();
    states = [state];
    expect(flush()).toBe(4);
    expect(written(0)).toEqual([attemptOf1, attemptOf1, `${OPERATIONS.topic} 3 subscription-1`, 'states 3 s']);
    expect(happened).toEqual([]);
    await ends(0, 200);
    expect(happened).toEqual(['states written', '1 durable', '2 durable', 'flushed']);
    expect(log.attemptsEnd).toBe(202);
  });

  it('collects what ends during a request for the next one', async () => {
    append(1);
    flush();
    append(2);
    append(3);
    expect(requested).toEqual([]);
    expect(log.attemptsEnd).toBe(100);
    await ends(0, 100);
    expect(flush()).toBe(2);
    await ends(1, 101);
    expect(happened.filter((one) => one.endsWith('durable'))).toEqual(['1 durable', '2 durable', '3 durable']);
    expect([log.attemptsEnd, requested]).toEqual([103, []]);
  });

  it('sends nothing when nothing is due, and is drained then', async () => {
    log.requestFlush();
    const drained = log.drained().then(() => happened.push('drained'));
    expect(flush()).toBe(0);
    await drained;
    expect([appends, happened]).toEqual([[], ['drained']]);
  });

  it('is drained when everything is written, what came during the last request included', async () => {
    await log.drained();
    append(1);
    void log.drained().then(() => happened.push('drained'));
    flush();
    append(2);
    await ends(0, 100);
    expect(happened).not.toContain('drained');
    flush();
    await ends(1, 101);
    expect(happened.at(-1)).toBe('drained');
  });

  it('says of every attempt that is not in the log that it is lost, and takes no more', async () => {
    append(1);
    flush();
    append(2);
    appends[0]?.fail();
    await flushed();
    append(3);
    expect(happened).toEqual(['1 lost', '2 lost', 'fenced', '3 lost']);
    await log.drained();
    expect([requested, appends.length, log.attemptsEnd]).toEqual([[], 1, 100]);
  });
});
