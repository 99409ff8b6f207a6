import { createDeliveryPartitions } from '@waypost/history-store';
import type { BenchContext } from '../bench-context.js';
import { dayName, DAY_MS } from '../calendar.js';

/** New attempts that are projected as fast as it can be done while something else is measured. */
export interface Flow {
  /** Attempts/s since it began, or since `from`. */
  rate(from?: FlowMark): number;
  mark(): FlowMark;
  stop(): Promise<void>;
}

export interface FlowMark {
  readonly attempts: number;
  readonly elapsedMs: number;
}

const LOG = 'flow';
const SEED = 2;
/** So many that it does not end by itself; so few a millisecond as in a day of 10,000 deliveries/s. */
const DELIVERIES_A_DAY = 864_000_000;
const NOTHING: FlowMark = { attempts: 0, elapsedMs: 0 };

/** Into a day of its own, which is new at the beginning, as every day is at midnight. */
export async function startFlow({ dataSource, projector, flags, calendar }: BenchContext): Promise<Flow> {
  const { toMs, flowToMs, nowMs } = calendar;
  await createDeliveryPartitions(dataSource).ensurePartitions(toMs, flowToMs - DAY_MS);
  await dataSource.query(`TRUNCATE deliveries_${dayName(toMs)}`);
  await dataSource.query('DELETE FROM projection_positions WHERE topic = $1', [LOG]);
  const { partitions, batchSize } = flags;
  const window = { fromMs: toMs, toMs: flowToMs, nowMs };
  const flow = projector.project(LOG, { ...window, seed: SEED, partitions, batchSize, deliveries: DELIVERIES_A_DAY });
  let failure: unknown = null;
  flow.catch((error: unknown) => {
    failure = error;
  });
  const mark = (): FlowMark => {
    if (failure !== null) throw new Error('The projection beside the measurement has failed.', { cause: failure });
    return projector.progress() ?? NOTHING;
  };
  return {
    mark,
    rate: (from = NOTHING) => {
      const to = mark();
      return ((to.attempts - from.attempts) / Math.max(1, to.elapsedMs - from.elapsedMs)) * 1_000;
    },
    async stop() {
      await projector.stop();
      await flow;
    },
  };
}
