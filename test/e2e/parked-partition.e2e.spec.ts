import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { ok, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'parked';
const topic = 'telemetry.pings';
const app = 'telemetry-processor';
const devices = Array.from({ length: 12 }, (_, index) => `van-${String(index)}`);
const pingsPerDevice = 5;
/** What retention leaves of them in the partition. */
const leftPerDevice = 2;

interface ParkedTask {
  readonly task: string;
  readonly partition: number;
  readonly instance: string;
  readonly parked: { readonly code: string; readonly message: string };
}

const waypost = runningWaypost(sharedDataDir());
const startedAt = new Date();
const partitionOf = new Map<string, number>();
let receiver: Receiver;
let seconds = 0;
let pid: number;

/** Each ping makes one position event: they are five minutes apart. */
async function publish(count: number): Promise<void> {
  const times = Array.from({ length: count }, () => Date.UTC(2026, 4, 4, 8) + (seconds += 300) * 1_000);
  const pings = times.flatMap((time) =>
    devices.map((deviceId) => ({ deviceId, eventTime: new Date(time).toISOString(), latitude: 52.1, longitude: 11.6 })),
  );
  await waypost.publish(fleet, pings);
}

function webhooksOf(deviceId: string): number {
  return receiver.calls.filter(({ body }) => {
    const { eventData } = JSON.parse(body.toString()) as { eventData: { deviceId: string } };
    return eventData.deviceId === deviceId;
  }).length;
}

function victims(): string[] {
  return devices.filter((deviceId) => partitionOf.get(deviceId) === partitionOf.get('van-0'));
}

/** Retention that overtakes a consumer: the first of its unread records are gone. */
async function deleteUnread(): Promise<void> {
  const admin = new Kafka({ brokers: [...waypost.info().brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const partition = partitionOf.get('van-0') ?? -1;
  const high = (await admin.fetchTopicOffsets(topic)).find((one) => one.partition === partition)?.high;
  const offset = String(Number(high) - leftPerDevice * victims().length);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset }] });
  await admin.disconnect();
}

beforeAll(async () => {
  receiver = await startReceiver(ok);
  await waypost.createFleet(fleet);
  await subscribe(waypost, { fleet, url: receiver.url('/'), types: ['position'] });
  await publish(1);
  await until(() => expect(devices.map(webhooksOf)).toEqual(devices.map(() => 1)), { timeoutMs: 30_000 });
  const read = await waypost.cliLines<{ partition: number; value: { fleetId: string; deviceId: string } }>(
    ...['read', topic, '--until-end', '--from', startedAt.toISOString()],
  );
  for (const { partition, value } of read) if (value.fleetId === fleet) partitionOf.set(value.deviceId, partition);
  pid = waypost.pidOf(app);
}, 60_000);

afterAll(() => receiver.close());

describe('A partition that cannot go on, of four under load (R-45)', () => {
  it('is parked alone: the events of all others are delivered', async () => {
    process.kill(pid, 'SIGSTOP');
    try {
      await publish(pingsPerDevice);
      await deleteUnread();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const others = devices.filter((deviceId) => !victims().includes(deviceId));
    expect(others.length).toBeGreaterThan(0);
    await until(() => expect(others.map(webhooksOf)).toEqual(others.map(() => 1 + pingsPerDevice)), {
      timeoutMs: 60_000,
    });
    expect(victims().map(webhooksOf)).toEqual(victims().map(() => 1));
  }, 120_000);

  it('is listed with its reason, and readiness says degraded', async () => {
    const parked = { code: 'OFFSET_OUT_OF_RANGE' };
    const listed = await until(
      async () => {
        const tasks = await waypost.cliLines<ParkedTask>('tasks', 'list');
        expect(tasks).toMatchObject([{ topic, partition: partitionOf.get('van-0'), parked }]);
        return tasks;
      },
      { timeoutMs: 30_000 },
    );
    const ready = await fetch(`${listed[0]?.instance ?? ''}/health/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'degraded' }]);
  }, 60_000);

  it('goes on with the first record of the log when an operator skips, in the same process', async () => {
    const [parked] = await waypost.cliLines<ParkedTask>('tasks', 'list');
    await waypost.cli('tasks', 'skip', parked?.task ?? '');
    await until(() => expect(victims().map(webhooksOf)).toEqual(victims().map(() => 1 + leftPerDevice)), {
      timeoutMs: 30_000,
    });
    await until(async () => expect(await waypost.cliLines('tasks', 'list')).toEqual([]), { timeoutMs: 60_000 });
    expect(waypost.pidOf(app)).toBe(pid);
  }, 120_000);
});
