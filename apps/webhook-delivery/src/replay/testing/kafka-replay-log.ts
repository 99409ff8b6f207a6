import { randomUUID } from 'node:crypto';
import { createAvroCodecs, createSchemaRegistry, resolveBatch, setUpKafka, topics } from '@waypost/contracts';
import type { ReplayProgress, WebhookDelivery, WebhookReplay } from '@waypost/domain';
import {
  createKafkaBackend,
  openTopicAdmin,
  type OutgoingRecord,
  partitionForKey,
  partitionName,
  silentLogger,
} from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { attemptOf } from './replay-harness.js';

const PARTITIONS = 4;
const PORTION = 2_500;

/** The logs of one partition on a real broker, filled and read as by the applications around the replayer. */
export async function openKafkaReplayLog(brokers: string, registryUrl: string) {
  const kafka = { brokers: brokers.split(','), clientId: 'replay-test' };
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: PARTITIONS, replicationFactor: 1 });
  await admin.close();
  const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
  const producer = backend.producer(`replay-test-${randomUUID()}`);
  await producer.init();
  const partition = 2;
  const place = (topic: string) => ({ topic, partition });
  const deliveriesFrom = await backend.endOffset(place(topics.webhookDeliveries.name));

  /** Each with one attempt that delivered it at that time. */
  const writeSent = async (all: readonly { delivery: WebhookDelivery; firstAttemptAt: number }[]): Promise<void> => {
    for (let done = 0; done < all.length; done += PORTION) {
      const portion = all.slice(done, done + PORTION);
      const target = place(topics.webhookDeliveries.name);
      const deliveries = portion.map(({ delivery }) => ({
        ...target,
        key: Buffer.from(delivery.subscriptionId),
        value: codecs.webhookDeliveries.encode(delivery),
      }));
      const base = (await producer.commit({ records: deliveries })).get(partitionName(target)) ?? 0;
      const attempts = portion.map(({ delivery, firstAttemptAt }, index): OutgoingRecord => {
        const times = { firstAttemptAt, startedAt: firstAttemptAt, dueAt: firstAttemptAt };
        const attempt = attemptOf(delivery, base + index, times);
        const value = codecs.webhookAttempts.encode(attempt);
        return { ...place(topics.webhookAttempts.name), key: Buffer.from(delivery.subscriptionId), value };
      });
      await producer.commit({ records: attempts });
    }
  };

  const ask = async (replay: WebhookReplay): Promise<void> => {
    const value = codecs.webhookReplays.encode(replay);
    const record = { ...place(topics.webhookReplays.name), key: Buffer.from(replay.replayId), value };
    await producer.commit({ records: [record] });
  };

  /** The deliveries of a replay so far, in order. */
  const readReplayed = async (replayId: string): Promise<WebhookDelivery[]> => {
    const found: WebhookDelivery[] = [];
    const fetcher = backend.fetcher();
    const log = place(topics.webhookDeliveries.name);
    await readToEnd(backend, fetcher, log, deliveriesFrom, async ({ records }) => {
      await resolveBatch(codecs.webhookDeliveries, records);
      for (const { value } of records) {
        const decoded = codecs.webhookDeliveries.decode(value ?? Buffer.alloc(0));
        if (decoded.type === 'decoded' && decoded.value.replayId === replayId) found.push(decoded.value);
      }
    });
    await fetcher.close();
    return found;
  };

  const readProgress = async (replayId: string): Promise<ReplayProgress[]> => {
    const found: ReplayProgress[] = [];
    const fetcher = backend.fetcher();
    await readToEnd(backend, fetcher, place(topics.replayProgress.name), 0, async ({ records }) => {
      await resolveBatch(codecs.replayProgress, records);
      for (const { value } of records) {
        const decoded = value && codecs.replayProgress.decode(value);
        if (decoded?.type === 'decoded' && decoded.value.replayId === replayId) found.push(decoded.value);
      }
    });
    await fetcher.close();
    return found;
  };

  return {
    writeSent,
    ask,
    readReplayed,
    readProgress,
    /** An id that belongs to this partition. */
    newSubscriptionId: (): string => {
      for (;;) {
        const id = randomUUID();
        if (partitionForKey(Buffer.from(id), PARTITIONS) === partition) return id;
      }
    },
    close: async () => {
      await producer.close();
      await backend.close();
    },
  };
}

export type KafkaReplayLog = Awaited<ReturnType<typeof openKafkaReplayLog>>;
