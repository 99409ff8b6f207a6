import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { geofenceKey } from '@waypost/domain';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { append, createDataDir } from '../commands/testing/topic-commands.js';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { readFleetSettings, readGeofences } from './rule-run.js';

const { registryUrl } = requireTestStack();
const { fleetGeofences, fleetSettings } = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
const fleetId = `cli-${randomUUID()}`;
const made = { fleetId, name: 'Depot', version: 1, createdAt: 0, updatedAt: 0 };
const settings = { ...made, payloadFormat: 'v1', routes: true };
const NO_AVRO = Buffer.from('no Avro');

const { dataDir, remove } = await createDataDir();
afterAll(remove);

let stack: StackEnvironment;
beforeAll(async () => {
  stack = await stackEnvironment(dataDir);
  await Promise.all([fleetGeofences.prepare(), fleetSettings.prepare()]);
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
