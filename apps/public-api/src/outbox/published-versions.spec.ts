import { describe, expect, it } from '@jest/globals';
import { createAvroCodecs, topics } from '@waypost/contracts';
import { CLOCK_TOLERANCE_MS, type FleetSettings, type WebhookDelivery } from '@waypost/domain';
import type { OutboxRow } from '@waypost/management-store';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { createPublishedVersionsReader, isAlreadyPublished, type PublishedVersion } from './published-versions.js';

const CREATED_AT = Date.UTC(2026, 2, 20);

function settingsOf(version: number, createdAt: number): FleetSettings {
  return {
    ...{ fleetId: 'acme', name: null, payloadFormat: 'v1', routes: false },
    ...{ version, createdAt, updatedAt: createdAt },
  };
}

function rowOf(value: FleetSettings): OutboxRow {
  return { id: '1', kind: 'fleet-settings', key: value.fleetId, partitionKey: null, value };
}

/** Which of these changes count as published once the topic has that version. */
async function publishedOf(inTopic: readonly FleetSettings[], changes: readonly FleetSettings[]): Promise<boolean[]> {
  const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.fleetSettings.prepare();
  const topic = topics.fleetSettings.name;
  const backend = createMemoryBackend({ topics: { [topic]: 1 }, now: () => CREATED_AT });
  for (const settings of inTopic) {
    const value = codecs.fleetSettings.encode(settings);
    backend.append({ topic, partition: 0 }, { key: Buffer.from(settings.fleetId), value });
  }
  const counts = () => new Map([['fleet-settings' as const, 1]]);
  const rows = changes.map(rowOf);
  const versions = await createPublishedVersionsReader({ backend, codecs, counts })(rows);
  return rows.map((row) => isAlreadyPublished(row, versions));
}

describe('a change that may be in its topic already', () => {
  it('is there up to the version that the topic has', async () => {
    const changes = [1, 2, 3].map((version) => settingsOf(version, CREATED_AT));
    expect(await publishedOf([settingsOf(2, CREATED_AT)], changes)).toEqual([true, true, false]);
  });

  it('is there up to the newest of the versions that the topic has, which are not compacted yet', async () => {
    const [first, second, third] = [1, 2, 3].map((version) => settingsOf(version, CREATED_AT));
    if (!first || !second || !third) throw new Error('There are three.');
    expect(await publishedOf([first, second], [first, second, third])).toEqual([true, true, false]);
  });

  it('is there as a deletion only when the topic has one, and then everything before it is', () => {
    const row = (value: object | null): OutboxRow => {
      return { id: '1', kind: 'webhook-subscription', key: 's', partitionKey: null, value };
    };
    const isThere = (found: PublishedVersion, value: object | null) =>
      isAlreadyPublished(row(value), new Map([['webhook-subscription/s', found]]));
    expect(isThere({ type: 'version', version: 7 }, null)).toBe(false);
    expect(isThere({ type: 'deleted' }, null)).toBe(true);
    expect(isThere({ type: 'deleted' }, { version: 7 })).toBe(true);
  });

  it('is not there when it is of a fleet that was created again, after its database was lost (R-17)', async () => {
    const changes = [1, 2].map((version) => settingsOf(version, CREATED_AT + 1));
    expect(await publishedOf([settingsOf(7, CREATED_AT)], changes)).toEqual([false, false]);
  });
});

describe('a delivery that may be in its topic already', () => {
  const test: WebhookDelivery = {
    ...{ eventId: 'e', subscriptionId: 's', fleetId: 'acme', deviceId: 'device-1', eventType: 'position' },
    ...{ eventTime: CREATED_AT, format: 'v1', body: '{}', createdAt: CREATED_AT, series: 0, replayId: null },
  };
  const row: OutboxRow = { id: '1', kind: 'webhook-delivery', key: 's', partitionKey: null, value: test };

  /** Which of these deliveries count as published; the log has them at these times, by the clock of the broker. */
  async function publishedAt(times: readonly number[], deliveries: readonly WebhookDelivery[]): Promise<boolean[]> {
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    await codecs.webhookDeliveries.prepare();
    const topic = topics.webhookDeliveries.name;
    let nowMs = 0;
    const backend = createMemoryBackend({ topics: { [topic]: 1 }, now: () => nowMs });
    for (const [index, value] of deliveries.entries()) {
      nowMs = times[index] ?? nowMs;
      const key = Buffer.from(value.subscriptionId);
      backend.append({ topic, partition: 0 }, { key, value: codecs.webhookDeliveries.encode(value) });
    }
    const counts = () => new Map([['webhook-delivery' as const, 1]]);
    const rows = deliveries.map((value) => ({ ...row, value }));
    const versions = await createPublishedVersionsReader({ backend, codecs, counts })(rows);
    return rows.map((one) => isAlreadyPublished(one, versions));
  }

  it('is found where the clock of the broker is behind, as far as clocks may differ', async () => {
    expect(await publishedAt([CREATED_AT - CLOCK_TOLERANCE_MS.apiAndBroker], [test])).toEqual([true]);
  });

  it('is found next to one that was made an hour later', async () => {
    const later = { ...test, eventId: 'later', createdAt: CREATED_AT + 3_600_000 };
    expect(await publishedAt([CREATED_AT, later.createdAt], [test, later])).toEqual([true, true]);
  });
});
