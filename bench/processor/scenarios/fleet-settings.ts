import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { openRecordPublisher } from '@waypost/streams';
import type { BenchContext } from '../bench-context.js';
import { FLEETS } from './geofences.js';

/** Every fleet wants routes and stops, the dearest case. Written once more, it is still version 1. */
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
