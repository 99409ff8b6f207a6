import { createDeliveryFigures, type FigureGroup, type FigureStep } from '@waypost/history-store';
import { DeliveryMetricsService } from '../../../apps/public-api/src/delivery-metrics/delivery-metrics.service.js';
import { FleetMetricsService } from '../../../apps/public-api/src/fleet-metrics/fleet-metrics.service.js';
import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type BenchContext, DAY_MS } from '../bench-context.js';
import { createFleets } from '../load/fleets.js';

/** Answers of one kind: GET /public/v2/metrics for the largest fleet, and, by fleet, GET /public/v2/fleets/totals. */
export interface FiguresRun {
  readonly window: string;
  readonly step: FigureStep;
  readonly groupBy: FigureGroup;
  /** Reading, adding and writing JSON, without HTTP. */
  readonly ms: Percentiles;
  readonly kilobytes: number;
}

interface Window {
  readonly name: string;
  readonly days: number;
  readonly step: FigureStep;
}

/** As the console asks, and the most that one answer may have. */
const WINDOWS: readonly Window[] = [
  { name: '15 days', days: 15, step: 'day' },
  { name: '15 days', days: 15, step: 'hour' },
  { name: 'a day', days: 1, step: 'hour' },
  { name: '6 hours', days: 0.25, step: 'minute' },
  { name: 'a day', days: 1, step: 'minute' },
];
const GROUPS = ['none', 'subscription', 'eventType'] as const;
/** For the totals of fleets. The console asks by hour at least. */
const WINDOWS_OF_ALL: readonly Window[] = [
  { name: '15 days', days: 15, step: 'day' },
  { name: 'a day', days: 1, step: 'hour' },
  { name: 'an hour', days: 1 / 24, step: 'minute' },
];
const WARM_UP_ANSWERS = 5;

/** Each answer ends where the history does, as most that are asked for do. */
export async function measureFigures({
  pages,
  calendar,
  flags,
  reporter,
  signal,
  now,
}: BenchContext): Promise<FiguresRun[]> {
  const figures = createDeliveryFigures({ pages });
  const service = new DeliveryMetricsService(figures, () => calendar.nowMs);
  const ofAll = new FleetMetricsService(figures, () => calendar.nowMs);
  const fleetId = createFleets()[0]?.fleetId ?? '';
  const caller = { fleetId, subscriptionIds: null };
  const runs: FiguresRun[] = [];
  const kinds = [
    ...WINDOWS.flatMap((window) => GROUPS.map((groupBy) => ({ ...window, groupBy, total: false }))),
    ...WINDOWS_OF_ALL.map((window) => ({ ...window, groupBy: 'fleet' as const, limit: 100 })),
  ];
  await reporter.during(`Reading figures of ${String(kinds.length)} kinds`, async () => {
    for (const { name, days, ...kind } of kinds) {
      const query = { startDate: calendar.toMs - days * DAY_MS, endDate: calendar.toMs, ...kind };
      const answerTo = () => ('limit' in query ? ofAll.totals(query) : service.read(caller, query));
      const tookMs: number[] = [];
      let text = '';
      for (let answer = -WARM_UP_ANSWERS; answer < flags.pages / 5; answer += 1) {
        signal.throwIfAborted();
        const startedAt = now();
        text = JSON.stringify(await answerTo());
        if (answer >= 0) tookMs.push(now() - startedAt);
      }
      const { step, groupBy } = kind;
      runs.push({ window: name, step, groupBy, ms: percentilesOf(tookMs), kilobytes: text.length / 1_000 });
    }
  });
  return runs;
}
