import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { walkV2 } from '../support/delivery-history.js';
import { ok, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'poisoned';
const bytes = Buffer.from('whatever this is, it is not Avro');
const topics = ['fleet.events', 'webhook.deliveries', 'webhook.attempts', 'webhook.subscriptions', 'fleet.geofences'];
const apps = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'];

interface Rejected {
  readonly sourceTopic: string;
  readonly key: string;
  readonly valueBase64: string;
  readonly reason: string;
}

const waypost = runningWaypost(sharedDataDir());
const startedAt = Date.now();
let receiver: Receiver;
let key: string;
let seconds = 0;

/** One record in each topic, in the partition of the subscription where the topic is keyed by it. */
async function poison(): Promise<void> {
  const kafka = new Kafka({ brokers: [...waypost.info().brokers], logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  for (const topic of topics) await producer.send({ topic, messages: [{ key, value: bytes }] });
  await producer.disconnect();
}

/** Publishes a ping and waits for its webhook. */
async function deliver(): Promise<void> {
  const before = receiver.calls.length;
  const eventTime = new Date(Date.UTC(2026, 4, 4, 8) + (seconds += 300) * 1_000).toISOString();
  await waypost.publish(fleet, [{ deviceId: 'van-1', eventTime, latitude: 52.1, longitude: 11.6 }]);
  await until(() => receiver.calls.length > before, { timeoutMs: 30_000 });
}

function pids(): unknown {
  return apps.map((app) => [app, waypost.pidOf(app)]);
}

beforeAll(async () => {
  receiver = await startReceiver(ok);
  await waypost.createFleet(fleet);
  const [created] = await subscribe(waypost, { fleet, url: receiver.url('/'), types: ['position'] });
  key = created?.id ?? '';
  await deliver();
}, 60_000);

afterAll(() => receiver.close());

describe('A record that is not Avro, in each topic that the applications follow (R-2, R-45)', () => {
  it('ends no process and stops no partition', async () => {
    const before = pids();
    await poison();
    await deliver();
    await waypost.cli('wait', '--idle', '1');
    expect(pids()).toEqual(before);
  }, 60_000);

  it('is shown to operators with its bytes, its key and the reason', async () => {
    const isOurs = (one: Rejected): boolean => one.key === key;
    await until(async () => {
      const rejected = (await waypost.cliLines<Rejected>('rejected', 'list')).filter(isOurs);
      expect(rejected.map(({ sourceTopic }) => sourceTopic).toSorted()).toEqual(topics.toSorted());
      for (const { valueBase64, reason } of rejected)
        expect([reason, valueBase64]).toEqual(['malformed', bytes.toString('base64')]);
    });
  }, 60_000);

  it('does not keep a process from starting again, or a subscription from getting its events', async () => {
    for (const app of ['webhook-delivery', 'history-projector']) {
      const killed = waypost.kill(app);
      await until(() => expect(waypost.pidOf(app)).not.toBe(killed), { timeoutMs: 30_000 });
    }
    const restarted = pids();
    await deliver();
    await waypost.cli('wait', '--idle', '1');
    expect(pids()).toEqual(restarted);
    const { items } = await walkV2(waypost, { fleet, from: startedAt, pageSize: 10 });
    expect(items.map(({ delivery }) => delivery.status)).toEqual(['delivered', 'delivered', 'delivered']);
  }, 90_000);
});
