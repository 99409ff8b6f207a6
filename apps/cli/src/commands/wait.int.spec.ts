import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { subscriptionOf } from '../../../../test/support/samples.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { append, createDataDir } from './testing/topic-commands.js';
import { parkedSubscriptions } from './wait.js';

const { registryUrl } = requireTestStack();

const { dataDir, remove } = await createDataDir();
afterAll(remove);

describe('Waiting until idle', () => {
  it('counts subscriptions that are parked, and not those that wait for a probe or for their owner', async () => {
    const now = Date.now();
    const state = { foldFrom: 0, failingSince: null, suspendedAt: null, failedDays: [], updatedAt: now };
    const id = (what: string): string => `${what}-${randomUUID()}`;
    const [busy, done, suspended, paused] = [id('busy'), id('done'), id('suspended'), id('paused')];
    const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
    await Promise.all([codecs.subscriptionState.prepare(), codecs.webhookSubscriptions.prepare()]);
    const parked = (subscriptionId: string, more = {}): readonly [string, Buffer] => [
      subscriptionId,
      codecs.subscriptionState.encode({ ...state, subscriptionId, parkedFrom: 1, ...more }),
    ];
    await append(topics.subscriptionState.name, [
      ...[parked(busy), parked(done), parked(suspended, { suspendedAt: now }), parked(paused)],
      [done, null],
      // The state before it stays in force.
      [busy, Buffer.from('no Avro')],
    ]);
    const subscription = subscriptionOf({ id: paused, status: 'paused' });
    await append(topics.webhookSubscriptions.name, [
      [paused, codecs.webhookSubscriptions.encode(subscription)],
      [paused, Buffer.from('no Avro')],
    ]);
    const found = await parkedSubscriptions(await stackEnvironment(dataDir));
    expect(found.filter((one) => [busy, done, suspended, paused].includes(one))).toEqual([busy]);
  });
});
