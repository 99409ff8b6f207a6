import type { KafkaSettings } from '../kafka-settings.js';
import { connectKafka } from './kafka-connection.js';

/** What a Kafka cluster calls itself, whichever of its brokers answers. */
export async function readClusterId(settings: KafkaSettings): Promise<string> {
  const admin = connectKafka(settings).admin();
  await admin.connect();
  try {
    return (await admin.describeCluster()).clusterId;
  } finally {
    await admin.disconnect();
  }
}
