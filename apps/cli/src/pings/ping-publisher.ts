import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import type { TelemetryPing } from '@waypost/domain';
import { openRecordPublisher, type RegistryConfig } from '@waypost/platform/without-nest';
import type { KafkaSettings } from '@waypost/streams';

/** Publishes pings as any producer does. */
export interface PingPublisher {
  publish(pings: readonly TelemetryPing[]): Promise<void>;
  close(): Promise<void>;
}

export async function openPingPublisher(kafka: KafkaSettings, registry: RegistryConfig): Promise<PingPublisher> {
  const codec = createAvroCodecs({ registry: createSchemaRegistry(registry) }).telemetryPings;
  await codec.prepare();
  const publisher = await openRecordPublisher(kafka, topics.telemetryPings.name);
  return {
    publish: (pings) =>
      publisher.publish(pings.map((ping) => ({ key: Buffer.from(ping.deviceId), value: codec.encode(ping) }))),
    close: () => publisher.close(),
  };
}
