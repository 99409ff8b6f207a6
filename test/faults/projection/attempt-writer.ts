import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import { deliveryOfAttempt, type WebhookDelivery } from '@waypost/domain';
import { createKafkaBackend, type OutgoingRecord, partitionForKey, silentLogger } from '@waypost/streams';
import type { TransactionalProducer } from '@waypost/streams/admin';
import { chance, createRandom } from '../../../tools/simulator/random.js';
import { codecsOf } from '../shared/committed-log.js';
import { type Log, PARTITIONS } from '../shared/stage.js';
import { startSteadyWriter } from '../shared/steady-writer.js';
import { createMadeUpLog, createMadeUpPings } from './made-up-log.js';

export interface AttemptWriterOptions {
  readonly log: Log;
  readonly seed: number;
  readonly attemptsPerSecond: number;
  readonly now: () => number;
}

export interface AttemptWriter {
  /** Attempts. */
  readonly written: () => number;
  /** Resolves when the broker has everything, with the number of points that the pings are. */
  stop(): Promise<{ readonly points: number }>;
}

const TICK_MS = 50;
const PINGS_AN_ATTEMPT = 0.3;
const AGAIN_AFTER_MS = 500;

/** Part of the deliveries that are never attempted. */
const UNSENT = 0.02;

/** Fills the logs at a steady rate, in transactions, so that they hold markers as well as records. */
export async function startAttemptWriter(options: AttemptWriterOptions): Promise<AttemptWriter> {
  const { log, seed, attemptsPerSecond, now } = options;
  const codecs = codecsOf(log);
  const { webhookAttempts, webhookDeliveries, telemetryPings } = codecs;
  await Promise.all([webhookAttempts, webhookDeliveries, telemetryPings].map((codec) => codec.prepare()));
  const backend = createKafkaBackend({ kafka: log.kafka, logger: silentLogger, now });
  const openProducer = async (): Promise<TransactionalProducer> => {
    const opened = backend.producer('projection-integrity.writer');
    await opened.init();
    return opened;
  };
  let producer = await openProducer();
  const random = createRandom(seed);
  const attempts = createMadeUpLog(random);
  const pings = createMadeUpPings(createRandom(seed + 1));

  /** An attempt, after its delivery when it is the first, and now and then a delivery that none follows. */
  function nextAttempt(): OutgoingRecord[] {
    const attempt = attempts.next(now());
    const delivery = deliveryOfAttempt(attempt);
    return [
      ...(chance(random, UNSENT) ? [recordOfDelivery(attempts.nextUnsent(now()))] : []),
      ...(delivery === null ? [] : [recordOfDelivery(delivery)]),
      recordOf(topics.webhookAttempts.name, attempt.subscriptionId, webhookAttempts.encode(attempt)),
    ];
  }

  function recordOfDelivery(delivery: WebhookDelivery): OutgoingRecord {
    return recordOf(topics.webhookDeliveries.name, delivery.subscriptionId, webhookDeliveries.encode(delivery));
  }

  function nextPing(): OutgoingRecord {
    const ping = pings.next(now());
    return recordOf(topics.telemetryPings.name, ping.deviceId, telemetryPings.encode(ping));
  }

  /** Again while the broker is away: what is in the log twice then must not count twice. */
  async function commit(records: readonly OutgoingRecord[]): Promise<void> {
    for (;;) {
      try {
        await producer.commit({ records });
        return;
      } catch {
        await producer.close().catch(() => undefined);
        await sleep(AGAIN_AFTER_MS);
        producer = await openProducer().catch(() => producer);
      }
    }
  }

  const writer = startSteadyWriter({
    perSecond: attemptsPerSecond,
    tickMs: TICK_MS,
    mostAtOnce: Infinity,
    write: (count) =>
      commit([
        ...Array.from({ length: count }, nextAttempt).flat(),
        ...Array.from({ length: Math.ceil(count * PINGS_AN_ATTEMPT) }, nextPing),
      ]),
  });
  return {
    written: writer.written,
    async stop() {
      try {
        await writer.stop();
      } finally {
        await producer.close();
        await backend.close();
      }
      return { points: pings.points() };
    },
  };
}

function recordOf(topic: string, id: string, value: Buffer): OutgoingRecord {
  const key = Buffer.from(id);
  return { topic, partition: partitionForKey(key, PARTITIONS), key, value };
}
