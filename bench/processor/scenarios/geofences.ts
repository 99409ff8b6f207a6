import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { type Geofence, geofenceKey } from '@waypost/domain';
import { openRecordPublisher } from '@waypost/platform/without-nest';
import { connectKafka } from '@waypost/streams/admin';
import { createRandom } from '../../../tools/simulator/random.js';
import type { BenchContext } from '../bench-context.js';

export const GEOFENCES_PER_FLEET = 1_000;

/** As many as the devices of the backlog are of. */
export const FLEETS = 50;
/** As in the results of earlier versions. */
const SEED = 0x9e3779b2;
/** The square of a degree in which the devices are. */
const SOUTH = 50;
const WEST = 4;
const DEGREES_IN_METERS = 111_000;
const LEAST_RADIUS_DEGREES = 0.001;
const MOST_RADIUS_DEGREES = 0.006;
const CORNERS = 8;

/** Circles and polygons of 110 to 670 m, by turns. One that is there already is written once more with its version. */
export async function publishGeofences({ stack, reporter, now }: BenchContext): Promise<void> {
  const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: stack.registryUrl }), now });
  await codecs.fleetGeofences.prepare();
  const producer = connectKafka(stack.kafka).producer();
  await producer.connect();
  const title = `Publishing ${String(GEOFENCES_PER_FLEET)} geofences of each of ${String(FLEETS)} fleets`;
  await reporter.during(title, async () => {
    const random = createRandom(SEED);
    for (let fleet = 0; fleet < FLEETS; fleet += 1) {
      const messages = Array.from({ length: GEOFENCES_PER_FLEET }, (_, number) => {
        const geofence = geofenceOf(fleet, number, now(), random);
        return { key: geofenceKey(geofence), value: codecs.fleetGeofences.encode(geofence) };
      });
      await producer.send({ topic: topics.fleetGeofences.name, acks: -1, messages });
    }
  });
  await producer.disconnect();
}

function geofenceOf(fleet: number, number: number, nowMs: number, random: () => number): Geofence {
  const latitude = SOUTH + random();
  const longitude = WEST + random();
  const radius = LEAST_RADIUS_DEGREES + random() * (MOST_RADIUS_DEGREES - LEAST_RADIUS_DEGREES);
  const ring = Array.from({ length: CORNERS }, (_, corner) => {
    const angle = (corner / CORNERS) * 2 * Math.PI;
    return { latitude: latitude + Math.sin(angle) * radius, longitude: longitude + Math.cos(angle) * radius };
  });
  const isCircle = number % 2 === 0;
  return {
    geofenceId: `${hex(fleet, 8)}-0000-4000-8000-${hex(number, 12)}`,
    fleetId: `fleet-${String(fleet)}`,
    name: `Geofence ${String(number)}`,
    circle: isCircle ? { latitude, longitude, radiusInMeters: radius * DEGREES_IN_METERS } : null,
    polygon: isCircle ? null : { rings: [ring] },
    version: 1,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** Every fleet wants routes and stops, the most expensive case. Written once more, it is still version 1. */
export async function publishFleetSettings({ stack, reporter, now }: BenchContext): Promise<void> {
  const { fleetSettings } = createAvroCodecs({ registry: createSchemaRegistry({ url: stack.registryUrl }), now });
  await fleetSettings.prepare();
  const publisher = await openRecordPublisher(stack.kafka, topics.fleetSettings.name);
  const times = { createdAt: now(), updatedAt: now() };
  await reporter.during(`Publishing the settings of ${String(FLEETS)} fleets`, async () => {
    const fleetIds = Array.from({ length: FLEETS }, (_, fleet) => `fleet-${String(fleet)}`);
    const records = fleetIds.map((fleetId) => {
      const settings = { fleetId, name: null, payloadFormat: 'v1', routes: true, version: 1, ...times };
      return { key: Buffer.from(fleetId), value: fleetSettings.encode(settings) };
    });
    await publisher.publish(records);
  });
  await publisher.close();
}
