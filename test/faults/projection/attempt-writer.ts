import { setTimeout as sleep } from 'node:timers/promises';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import {
  createKafkaBackend,
  type KafkaSettings,
  type OutgoingRecord,
  partitionForKey,
  silentLogger,
} from '@waypost/streams';
import { createRandom } from '../../../tools/simulator/random.js';
import { createMadeUpLog, createMadeUpPings } from './made-up-log.js';

export interface AttemptWriterOptions {
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly partitions: number;
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

const TURN_MS = 50;
const PINGS_AN_ATTEMPT = 0.3;

/** Fills both logs at a steady rate, in transactions, so that they hold markers as well as records. */
export async function startAttemptWriter(options: AttemptWriterOptions): Promise<AttemptWriter> {
  const { kafka, registryUrl, partitions, seed, attemptsPerSecond, now } = options;
  const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
  await Promise.all([codecs.webhookAttempts.prepare(), codecs.telemetryPings.prepare()]);
  const backend = createKafkaBackend({ kafka, logger: silentLogger, now });
  const producer = backend.producer('projection-integrity.writer');
  await producer.init();
  const log = createMadeUpLog(createRandom(seed));
  const pings = createMadeUpPings(createRandom(seed + 1));
  const startedAt = performance.now();
  let written = 0;
  let stopped = false;

  function recordOf(topic: string, id: string, value: Buffer): OutgoingRecord {
    const key = Buffer.from(id);
    return { topic, partition: partitionForKey(key, partitions), key, value };
  }

  async function turn(): Promise<void> {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * attemptsPerSecond) - written;
    if (due <= 0) return;
    const attempts = Array.from({ length: due }, () => {
      const attempt = log.next(now());
      return recordOf(topics.webhookAttempts.name, attempt.subscriptionId, codecs.webhookAttempts.encode(attempt));
    });
    const points = Array.from({ length: Math.ceil(due * PINGS_AN_ATTEMPT) }, () => {
      const ping = pings.next(now());
      return recordOf(topics.telemetryPings.name, ping.deviceId, codecs.telemetryPings.encode(ping));
    });
    await producer.commit({ records: [...attempts, ...points] });
    written += due;
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await turn();
      await sleep(TURN_MS);
    }
  }
  const running = run();
  // Awaited by whoever stops it; until then a failure must not end the process.
  running.catch(() => undefined);
  return {
    written: () => written,
    async stop() {
      stopped = true;
      try {
        await running;
      } finally {
        await producer.close();
        await backend.close();
      }
      return { points: pings.points() };
    },
  };
}
