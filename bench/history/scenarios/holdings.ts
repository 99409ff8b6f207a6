import type { DeliveryHistory, DeliveryPosition } from '@waypost/domain';
import type { BenchContext } from '../bench-context.js';
import { createFleets } from '../load/fleets.js';
import { PAGE_SIZE, type Holdings } from './page-shapes.js';

const SAMPLED_EVENTS = 2_000;
const PAGES_BEFORE_THE_FAR_ONE = 999;
/** As much as public-api gives with one page. */
const STEP = 2_000;

/** Finds out what can be asked for. */
export async function findHoldings(
  { dataSource, calendar }: BenchContext,
  history: DeliveryHistory,
): Promise<Holdings> {
  const { fromMs, toMs } = calendar;
  const fleets = createFleets();
  const rows: { fleet_id: string; event_id: string }[] = await dataSource.query(
    'SELECT fleet_id, event_id FROM deliveries TABLESAMPLE SYSTEM (0.2) WHERE first_attempt_at < $1 LIMIT $2',
    [new Date(toMs).toISOString(), SAMPLED_EVENTS],
  );
  const window = { fleetId: fleets[0]?.fleetId ?? '', startAt: fromMs, endAt: toMs };
  return {
    ...{ fleets, fromMs, toMs },
    events: rows.map((row) => ({ fleetId: row.fleet_id, eventId: row.event_id })),
    farPosition: await positionBehind(history, window, PAGES_BEFORE_THE_FAR_ONE * PAGE_SIZE),
  };
}

interface Window {
  readonly fleetId: string;
  readonly startAt: number;
  readonly endAt: number;
}

/** By walking there, as a reader does; at the end of a smaller history it stays a page before the end. */
async function positionBehind(history: DeliveryHistory, window: Window, count: number): Promise<DeliveryPosition> {
  let position: DeliveryPosition | undefined;
  for (let left = count; left > 0;) {
    const limit = Math.min(left, STEP);
    const page = await history.findDeliveries({
      ...window,
      limit,
      ...(position === undefined ? {} : { after: position }),
    });
    const last = page.length === limit ? page.at(-1) : page.at(-1 - PAGE_SIZE);
    if (last !== undefined) {
      const { firstAttemptAt, eventId, series } = last;
      position = { firstAttemptAt, eventId, series };
    }
    if (page.length < limit) break;
    left -= limit;
  }
  if (position === undefined) throw new Error('The history is too small for a walk.');
  return position;
}
