// Prints the events of fleet.events as they come, one JSON object per line: node read-events.mjs [GROUP]
// KAFKA_BROKERS and SCHEMA_REGISTRY_URL say where they are.
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { Kafka, logLevel } from 'kafkajs';

const groupId = process.argv[2] ?? 'consumer-node';

const registry = new SchemaRegistry({ host: process.env.SCHEMA_REGISTRY_URL });
const kafka = new Kafka({
  clientId: 'consumer-node',
  brokers: process.env.KAFKA_BROKERS.split(','),
  logLevel: logLevel.ERROR,
});
// The processor writes in transactions. kafkajs reads committed records only unless it is set otherwise.
const consumer = kafka.consumer({ groupId });

await consumer.connect();
await consumer.subscribe({ topic: 'fleet.events', fromBeginning: true });
await consumer.run({
  eachMessage: async ({ message }) => {
    const event = await registry.decode(message.value);
    const { eventType, eventTime, fleetId, deviceId } = event;
    console.log(JSON.stringify({ eventType, eventTime: new Date(eventTime).toISOString(), fleetId, deviceId }));
  },
});

process.once('SIGTERM', () => consumer.disconnect());
process.once('SIGINT', () => consumer.disconnect());
