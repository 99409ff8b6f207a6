import { resolveBatch, topics } from '@waypost/contracts';
import { createKafkaBackend, readToEnd, silentLogger } from '@waypost/streams';
import { codecsOf } from '../shared/committed-log.js';
import { type Log, PARTITIONS } from '../shared/stage.js';

/** How far the run is, by the log. */
export interface Outcomes {
  /** Reads what is new. @returns how many attempts are in the log, and how many deliveries have an outcome */
  read(): Promise<{ readonly attempts: number; readonly finished: number }>;
  close(): Promise<void>;
}

export function followOutcomes(log: Log): Outcomes {
  const codec = codecsOf(log).webhookAttempts;
  const backend = createKafkaBackend({ kafka: log.kafka, logger: silentLogger, now: Date.now });
  const fetcher = backend.fetcher();
  const topic = topics.webhookAttempts.name;
  const positions = Array.from({ length: PARTITIONS }, () => 0);
  const finished = new Set<string>();
  let attempts = 0;
  /** One fetcher reads for one caller at a time. */
  let reading: Promise<unknown> = Promise.resolve();

  async function readNew(): Promise<{ attempts: number; finished: number }> {
    for (const [partition, from] of positions.entries()) {
      positions[partition] = await readToEnd(backend, fetcher, { topic, partition }, from, async ({ records }) => {
        await resolveBatch(codec, records);
        for (const { value } of records) {
          const decoded = value === null ? null : codec.decode(value);
          if (decoded?.type !== 'decoded') continue;
          attempts += 1;
          if (decoded.value.outcome !== 'retrying') finished.add(decoded.value.eventId);
        }
      });
    }
    return { attempts, finished: finished.size };
  }

  return {
    read() {
      const result = reading.then(readNew);
      reading = result.catch(() => undefined);
      return result;
    },
    async close() {
      await reading;
      await fetcher.close();
      await backend.close();
    },
  };
}
