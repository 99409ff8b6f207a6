import { createAvroCodecs, createSchemaRegistry, setUpKafka } from '@waypost/contracts';
import { createKafkaBackend, silentLogger, type StreamsBackend } from '@waypost/streams';
import { openTopicAdmin } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { requireTestStack } from '../../../../test/support/test-stack.js';

const PARTITIONS = 4;

export interface LoggedRecord {
  readonly partition: number;
  readonly key: string;
  readonly value: Buffer | null;
}

/** The broker and the registry of the integration tests, with every topic and schema there. */
export async function openTestStack() {
  const kafka = { brokers: requireTestStack().brokers, clientId: 'public-api-test' };
  const { registryUrl } = requireTestStack();
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: PARTITIONS, replicationFactor: 1 });
  await admin.close();
  const registry = createSchemaRegistry({ url: registryUrl });
  const openBackend = (): StreamsBackend => createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
  const backend = openBackend();

  /** Every committed record of a key. */
  async function recordsOf(topic: string, key: string): Promise<LoggedRecord[]> {
    const fetcher = backend.fetcher();
    const found: LoggedRecord[] = [];
    const partitions = (await backend.partitionCount(topic)) ?? 0;
    for (let partition = 0; partition < partitions; partition++) {
      await readToEnd(backend, fetcher, { topic, partition }, 0, ({ records }) => {
        for (const record of records) {
          if (record.key?.toString() !== key) continue;
          found.push({ partition, key, value: record.value === null ? null : Buffer.from(record.value) });
        }
      });
    }
    await fetcher.close();
    return found;
  }

  return {
    partitions: PARTITIONS,
    registry,
    codecs: createAvroCodecs({ registry }),
    openBackend,
    backend,
    recordsOf,
    close: () => backend.close(),
  };
}
