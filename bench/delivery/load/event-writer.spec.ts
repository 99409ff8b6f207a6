import { describe, expect, it } from '@jest/globals';
import { createAvroCodecs, type SchemaRegistryPort, topics } from '@waypost/contracts';
import { createEventTemplate, createPingTemplate } from './event-writer.js';

const registry: SchemaRegistryPort = {
  register: () => Promise.resolve(1),
  setCompatibility: () => Promise.resolve(),
  idOf: () => Promise.resolve(1),
  schemaById: () => Promise.resolve({ type: 'avro', schema: topics.fleetEvents.schema }),
};

describe('An event template', () => {
  it('makes events that differ in number and time only', async () => {
    const { fleetEvents } = createAvroCodecs({ registry });
    await fleetEvents.prepare();
    await fleetEvents.resolve([1]);
    const template = createEventTemplate(fleetEvents, { fleetId: 'single-3', eventType: 'position', weight: 1 });
    const [one, other] = [template(42, 1_795_000_000_001), template(999_999_999_999, 1_795_000_000_999)];

    expect(fleetEvents.decode(one)).toMatchObject({
      type: 'decoded',
      value: { fleetId: 'single-3', deviceId: 'bench-000000000042', eventTime: 1_795_000_000_001 },
    });
    expect(fleetEvents.decode(other)).toMatchObject({
      type: 'decoded',
      value: { fleetId: 'single-3', deviceId: 'bench-999999999999', eventTime: 1_795_000_000_999 },
    });
  });

  it('makes pings that were received when they happened', async () => {
    const { telemetryPings } = createAvroCodecs({
      registry: {
        ...registry,
        schemaById: () => Promise.resolve({ type: 'avro', schema: topics.telemetryPings.schema }),
      },
    });
    await telemetryPings.prepare();
    await telemetryPings.resolve([1]);
    const template = createPingTemplate(telemetryPings, { fleetId: 'single-3', eventType: 'position', weight: 1 });
    const timeMs = 1_795_000_000_001;

    expect(telemetryPings.decode(template(42, timeMs))).toMatchObject({
      type: 'decoded',
      value: { fleetId: 'single-3', deviceId: 'bench-000000000042', eventTime: timeMs, receivedTime: timeMs },
    });
  });
});
