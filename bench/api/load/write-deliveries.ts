import type { WebhookAttempt } from '@waypost/domain';
import { createDataSource } from '@waypost/database';
import { createDeliveryProjection } from '@waypost/history-store';
import { sampleDelivery, type SampledFleet } from './sample-deliveries.js';

export interface WrittenDeliveries {
  readonly databaseUrl: string;
  readonly fleets: readonly SampledFleet[];
  /** Of every fleet. */
  readonly count: number;
  /** Epoch milliseconds: their first attempts are spread evenly between these. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** As large as history-projector's own. */
const ATTEMPTS_OF_A_BATCH = 4_000;
/** No partition of the real topic: the position of a projector that runs beside it stays where it is. */
const TOPIC = 'samples';

/** Writes deliveries as history-projector does: through its projection, in batches, in the order of their attempts. */
export async function writeDeliveries(options: WrittenDeliveries): Promise<void> {
  const { databaseUrl, fleets, count, fromMs, toMs } = options;
  const dataSource = await createDataSource(databaseUrl, { applicationName: 'samples' }).initialize();
  try {
    const projection = createDeliveryProjection({ dataSource, now: Date.now });
    let position = await projection.readPosition(TOPIC, 0);
    let attempts: WebhookAttempt[] = [];
    const flush = async (): Promise<void> => {
      const nextOffset = (position ?? 0) + attempts.length;
      const batch = { topic: TOPIC, partition: 0, expectedOffset: position, nextOffset, attempts };
      const result = await projection.apply(batch);
      if (result.type !== 'applied') throw new Error('Something else writes samples into this database.');
      position = nextOffset;
      attempts = [];
    };
    for (let number = 0; number < count; number += 1) {
      const firstAttemptAt = Math.floor(fromMs + ((toMs - fromMs) * number) / count);
      for (const fleet of fleets) attempts.push(...sampleDelivery(fleet, number, firstAttemptAt));
      if (attempts.length >= ATTEMPTS_OF_A_BATCH) await flush();
    }
    if (attempts.length > 0) await flush();
    // Pages are planned by statistics, which autovacuum brings after a minute or so in the real thing.
    await dataSource.query('ANALYZE deliveries');
  } finally {
    await dataSource.destroy();
  }
}
