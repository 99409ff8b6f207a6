// Publishes one ping to telemetry.pings: node publish-ping.mjs FLEET DEVICE [LATITUDE LONGITUDE]
// KAFKA_BROKERS and SCHEMA_REGISTRY_URL say where to.
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { Kafka, Partitioners } from 'kafkajs';

const TOPIC = 'telemetry.pings';

const [fleetId, deviceId, latitude = '48.13743', longitude = '11.57549'] = process.argv.slice(2);
if (deviceId === undefined) throw new Error('Usage: node publish-ping.mjs FLEET DEVICE [LATITUDE LONGITUDE]');

const registry = new SchemaRegistry({ host: process.env.SCHEMA_REGISTRY_URL });
const kafka = new Kafka({ clientId: 'producer-node', brokers: process.env.KAFKA_BROKERS.split(',') });
const producer = kafka.producer({
  idempotent: true,
  // Hashes keys as Kafka's own clients do.
  createPartitioner: Partitioners.DefaultPartitioner,
});

const now = Date.now();
const ping = {
  fleetId,
  deviceId,
  eventTime: now,
  receivedTime: now,
  positionValid: true,
  latitude: Number(latitude),
  longitude: Number(longitude),
  speedInKmh: 43.2,
  ignition: true,
};

// The schema is registered already; a producer only looks it up. Fields left out get its default: null, "not reported".
const schemaId = await registry.getLatestSchemaId(`${TOPIC}-value`);
const value = await registry.encode(schemaId, ping);

await producer.connect();
try {
  // The key is the device, so its pings stay in order.
  const [written] = await producer.send({ topic: TOPIC, messages: [{ key: deviceId, value }] });
  console.log(`published to ${TOPIC}-${written.partition} at offset ${written.baseOffset}`);
} finally {
  await producer.disconnect();
}
