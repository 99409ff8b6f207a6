import { createKafkaBackend, createStreamsApp, openTopicAdmin, silentLogger, topicsOf } from '@waypost/streams';

const kafka = { brokers: (process.env.KAFKA_BROKERS ?? '127.0.0.1:9092').split(','), clientId: 'streams-example' };
const size = { partitions: 2, replicationFactor: 1 };

/** Put before the names of topics and applications, so that several runs can share a cluster. */
export const prefix = process.env.PREFIX ?? '';

/** What all examples share: the backend, the settings of applications, and new topics beside those of topologies. */
export function connect() {
  const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
  return { backend, logger: silentLogger, now: Date.now, onFatal };
}

/** Creates all topics, runs the topologies until Ctrl-C or SIGTERM, and closes what they used. */
export async function run(topologies, settings, { inputs = [], tables = [], globalTables = [] } = {}) {
  const admin = await openTopicAdmin(kafka);
  const plain = inputs.map((name) => ({ name, ...size, configs: {} }));
  const compacted = tables.map((name) => ({ ...size, name, partitions: 1, configs: { 'cleanup.policy': 'compact' } }));
  await admin.createTopics([...plain, ...compacted, ...topologies.flatMap((topology) => topicsOf(topology, size))]);
  await admin.close();
  for (const table of globalTables) await table.start();
  const apps = topologies.map((topology) => createStreamsApp({ ...settings, topology }));
  for (const app of apps) await app.start();
  const stopped = new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  console.log('running');
  await stopped;
  await Promise.all([...apps, ...globalTables].map((part) => part.stop()));
  await settings.backend.close();
}

function onFatal(error) {
  console.error(error);
  process.exit(70);
}
