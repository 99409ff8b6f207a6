import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { geofenceKey } from '@waypost/domain';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { append, createDataDir } from '../commands/testing/topic-commands.js';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { readTopic } from '../topic-reading/read-topic.js';
import { readFleetSettings, readGeofences, readPings } from './rule-run.js';

const { registryUrl } = requireTestStack();
const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
const { fleetGeofences, fleetSettings, telemetryPings, telemetryRejected } = codecs;
const fleetId = `cli-${randomUUID()}`;
const made = { fleetId, name: 'Depot', version: 1, createdAt: 0, updatedAt: 0 };
const settings = { ...made, payloadFormat: 'v1', routes: true };
const NO_AVRO = Buffer.from('no Avro');

const { dataDir, remove } = await createDataDir();
afterAll(remove);

let stack: StackEnvironment;
beforeAll(async () => {
  stack = await stackEnvironment(dataDir);
  await Promise.all([fleetGeofences, fleetSettings, telemetryPings, telemetryRejected].map((codec) => codec.prepare()));
  // Others read these topics too: a geofence belongs to a fleet that there is.
  await append(topics.fleetSettings.name, [[fleetId, fleetSettings.encode(settings)]]);
});

describe('A version that cannot be decoded', () => {
  it('leaves the geofence before it in force, as in the processor (R-2), and is named', async () => {
    const circle = { latitude: 52, longitude: 4, radiusInMeters: 300 };
    const kept = { ...made, geofenceId: randomUUID(), circle, polygon: null };
    const deleted = { ...kept, geofenceId: randomUUID() };
    await append(topics.fleetGeofences.name, [
      ...[kept, deleted].map((one) => [geofenceKey(one), fleetGeofences.encode(one)] as const),
      [geofenceKey(kept), NO_AVRO],
      [geofenceKey(deleted), null],
    ]);
    const { history, ids, unreadable } = await readGeofences(stack);
    expect(history.fleet(fleetId)?.get(kept.geofenceId, Date.now())).toBeDefined();
    expect(history.fleet(fleetId)?.get(deleted.geofenceId, Date.now())).toBeUndefined();
    expect(ids(fleetId)).toEqual([deleted.geofenceId, kept.geofenceId].sort());
    expect(unreadable).toContainEqual(expect.stringMatching(/^fleet\.geofences, partition 0, offset \d+: malformed/));
  });

  it('leaves the settings before it in force, and is named', async () => {
    await append(topics.fleetSettings.name, [[fleetId, NO_AVRO]]);
    const { history, unreadable } = await readFleetSettings(stack);
    expect(history.fleet(fleetId)?.at(Date.now())).toMatchObject({ routes: true });
    expect(unreadable).toContainEqual(expect.stringMatching(/^fleet\.settings, partition 0, offset \d+: malformed/));
  });
});

describe('A ping that can be decoded only since its schema was registered', () => {
  it('is left out if the processor has quarantined it: that has changed no state (R-2, R-39)', async () => {
    const deviceId = randomUUID();
    const pings = [1, 2, 3].map((n) => pingOf({ fleetId, deviceId, eventTime: NOON + n, speedInKmh: n }));
    await append(
      topics.telemetryPings.name,
      pings.map((ping) => [deviceId, telemetryPings.encode(ping)] as const),
    );
    const speeds = async () => {
      const found: (number | null)[] = [];
      await readPings(stack, {}, (all) => {
        found.push(...all.filter(({ ping }) => ping.deviceId === deviceId).map(({ ping }) => ping.speedInKmh));
      });
      return found;
    };
    expect(await speeds()).toEqual([1, 2, 3]);
    const places: (readonly [number, number, number])[] = [];
    await readTopic(stack, topics.telemetryPings.name, {}, (records) => {
      for (const { key, partition, offset, timestamp } of records)
        if (key === deviceId) places.push([partition, offset, timestamp]);
    });
    const rejected = ['unknown_schema', 'another topic', 'skipped'].map((reason, index) => {
      const [sourcePartition = 0, sourceOffset = 0, sourceTimestamp = 0] = places[index] ?? [];
      const sourceTopic = index === 1 ? topics.fleetEvents.name : topics.telemetryPings.name;
      const source = {
        sourceTopic,
        sourcePartition,
        sourceOffset,
        sourceTimestamp,
        sourceKey: null,
        sourceValue: null,
      };
      return { ...source, reason: index === 1 ? 'skipped' : reason, detail: '' };
    });
    await append(
      topics.telemetryRejected.name,
      rejected.map((one) => [deviceId, telemetryRejected.encode(one)] as const),
    );
    expect(await speeds()).toEqual([2]);
  });
});
