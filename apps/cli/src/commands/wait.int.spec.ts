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
    const state = { foldFrom: 0, failingSince: null, suspendedAt: null, failedDays: [], known: null, updatedAt: now };
    const id = (): string => randomUUID();
    const [busy, done, suspended, paused] = [id(), id(), id(), id()];
    const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
    const { subscriptionState, webhookSubscriptions, fleetSettings } = codecs;
    await Promise.all([subscriptionState, webhookSubscriptions, fleetSettings].map((codec) => codec.prepare()));
    const parked = (subscriptionId: string, more = {}): readonly [string, Buffer] => [
      subscriptionId,
      subscriptionState.encode({ ...state, subscriptionId, parkedFrom: 1, ...more }),
    ];
    await append(topics.subscriptionState.name, [
      ...[parked(busy), parked(done), parked(suspended, { suspendedAt: now }), parked(paused)],
      [done, null],
      // The state before it stays in force.
      [busy, Buffer.from('no Avro')],
    ]);
    const fleetId = `cli-${randomUUID()}`;
    const fleet = { fleetId, name: null, payloadFormat: 'v1', routes: false, version: 1, createdAt: 0, updatedAt: 0 };
    await append(topics.fleetSettings.name, [[fleetId, fleetSettings.encode(fleet)]]);
    const subscription = subscriptionOf({ id: paused, fleetId, status: 'paused' });
    await append(topics.webhookSubscriptions.name, [
      [paused, webhookSubscriptions.encode(subscription)],
      [paused, Buffer.from('no Avro')],
    ]);
    const found = await parkedSubscriptions(await stackEnvironment(dataDir));
    expect(found.filter((one) => [busy, done, suspended, paused].includes(one))).toEqual([busy]);
  });
});
