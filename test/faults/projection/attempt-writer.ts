import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import {
  createKafkaBackend,
  type OutgoingRecord,
  partitionForKey,
  silentLogger,
  type TransactionalProducer,
} from '@waypost/streams';
import { createRandom } from '../../../tools/simulator/random.js';
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

/** Fills both logs at a steady rate, in transactions, so that they hold markers as well as records. */
export async function startAttemptWriter(options: AttemptWriterOptions): Promise<AttemptWriter> {
  const { log, seed, attemptsPerSecond, now } = options;
  const codecs = codecsOf(log);
  await Promise.all([codecs.webhookAttempts.prepare(), codecs.telemetryPings.prepare()]);
  const backend = createKafkaBackend({ kafka: log.kafka, logger: silentLogger, now });
  const openProducer = async (): Promise<TransactionalProducer> => {
    const opened = backend.producer('projection-integrity.writer');
    await opened.init();
    return opened;
  };
  let producer = await openProducer();
  const attempts = createMadeUpLog(createRandom(seed));
  const pings = createMadeUpPings(createRandom(seed + 1));

  function nextAttempt(): OutgoingRecord {
    const attempt = attempts.next(now());
    return recordOf(topics.webhookAttempts.name, attempt.subscriptionId, codecs.webhookAttempts.encode(attempt));
  }

  function nextPing(): OutgoingRecord {
    const ping = pings.next(now());
    return recordOf(topics.telemetryPings.name, ping.deviceId, codecs.telemetryPings.encode(ping));
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
        ...Array.from({ length: count }, nextAttempt),
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
