import { beforeAll, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs, schemaIdOf, type SubjectCodec, topics } from '@waypost/contracts';
import type { FleetSettings } from '@waypost/domain';
import type { OutboxKind, OutboxRow } from '@waypost/management-store';
import { type OutgoingRecord, partitionForKey } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { subscriptionOf } from '../../../../test/support/samples.js';
import { toRecord } from './outbox-record.js';

const PARTITIONS = 7;
const COUNTS = new Map<OutboxKind, number>([
  ['fleet-settings', 1],
  ['webhook-subscription', 1],
  ['webhook-replay', PARTITIONS],
]);

let codecs: AvroCodecs;
beforeAll(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await Promise.all([codecs.fleetSettings.prepare(), codecs.webhookSubscriptions.prepare()]);
});

function recordOf(row: Partial<OutboxRow>): OutgoingRecord {
  const whole: OutboxRow = { id: '1', kind: 'webhook-subscription', key: 'k', partitionKey: null, value: null, ...row };
  return toRecord(whole, codecs, COUNTS);
}

/** Every field has another value than where it is absent. */
const subscription = subscriptionOf({
  description: 'Gate of the depot',
  metadata: { team: 'yard' },
  status: 'paused',
  disabledReason: 'only failures',
  payloadFormat: 'legacy-v1',
  deviceIds: ['van-1', 'van-2'],
  auth: {
    tokenUrl: 'https://id.example/token',
    clientId: 'c',
    sealedClientSecret: 's',
    scope: 'send',
    audience: 'hooks',
    tokenAuthMethod: 'client_secret_post',
  },
  headers: [
    { name: 'x-site', value: 'north', sealedValue: null },
    { name: 'x-key', value: null, sealedValue: 'sealed' },
  ],
  clientCertificate: { certificates: 'pem', sealedKey: 'sealed', subject: 'CN=fleet', expiresAt: 9_000 },
  rateLimitPerSecond: 5,
  onOutage: 'hold',
  strictOrder: true,
  secrets: [
    { sealed: 'new', expiresAt: null },
    { sealed: 'old', expiresAt: 8_000 },
  ],
  version: 3,
});
const times = { createdAt: 1_000, updatedAt: 2_000 };
const fleet: FleetSettings = { fleetId: 'acme', name: 'Tour', payloadFormat: 'v1', routes: true, version: 2, ...times };

/** As a reader of the topic gets it. */
async function readBack(codec: SubjectCodec<object>, row: Partial<OutboxRow>): Promise<unknown> {
  const value = recordOf(row).value ?? Buffer.of();
  await codec.resolve([schemaIdOf(value) ?? -1]);
  const decoded = codec.decode(value);
  return decoded.type === 'decoded' ? decoded.value : decoded;
}

describe('the record that publishes a change (R-17)', () => {
  it('has every field of a subscription and of the settings of a fleet', async () => {
    expect(await readBack(codecs.webhookSubscriptions, { value: subscription })).toEqual(subscription);
    expect(await readBack(codecs.fleetSettings, { kind: 'fleet-settings', value: fleet })).toEqual(fleet);
  });

  it('is made of a row that an earlier version has left, too, which lacks the later fields', async () => {
    const { description: _d, metadata: _m, headers: _h, clientCertificate: _c, ...earlier } = subscription;
    const later = { description: null, metadata: {}, headers: [], clientCertificate: null };
    expect(await readBack(codecs.webhookSubscriptions, { value: earlier })).toEqual({ ...earlier, ...later });
    const { name: _n, routes: _r, ...earlierFleet } = fleet;
    const row = { kind: 'fleet-settings', value: earlierFleet } as const;
    expect(await readBack(codecs.fleetSettings, row)).toEqual({ ...earlierFleet, name: null, routes: false });
  });

  it('of a deletion has no value, and goes where the versions before it went', () => {
    const row = { kind: 'webhook-replay', key: 'replay-1', partitionKey: 'subscription-1' } as const;
    expect(recordOf({ ...row, value: null })).toEqual({
      topic: topics.webhookReplays.name,
      partition: partitionForKey(Buffer.from('subscription-1'), PARTITIONS),
      key: Buffer.from('replay-1'),
      value: null,
    });
  });
});
