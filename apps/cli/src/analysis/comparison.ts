import { type FleetEvent, HOUR_MS } from '@waypost/domain';

/** Events of one kind, with the rules as they are and as they would be. */
export interface Tally {
  now: number;
  then: number;
  /** In both, of the same time, whichever ping showed it. */
  same: number;
}

export interface TallyRow extends Tally {
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
}

/** What both make of one ping. */
export interface ComparedPing {
  readonly appendedAt: number;
  /** Whose state it changes: a device in its partition. */
  readonly device: string;
  readonly now: readonly FleetEvent[];
  readonly then: readonly FleetEvent[];
  /** Neither side emits events of this device before this time any more, epoch milliseconds. */
  readonly earliestToCome: number;
  /** false: events of this ping are not counted, but may match later ones of the other side. */
  readonly inRange: boolean;
}

/** Per device and type, what other thresholds would have changed. */
export interface Comparison {
  add(ping: ComparedPing): void;
  /** Rows by fleet, device and type. */
  rows(): readonly TallyRow[];
  totals(): readonly (Tally & { readonly eventType: string })[];
  /** Tallies by hour of the log: epoch milliseconds of its beginning. */
  hours(): readonly (readonly [number, Tally])[];
}

/** An event that only one side has emitted so far. */
interface Unmatched {
  readonly eventTime: number;
  readonly side: 'now' | 'then';
  readonly inRange: boolean;
  times: number;
}

/** The unmatched events of each device, by identity: the other thresholds may show the same thing some pings later. */
type Open = Map<string, Unmatched>;

/** Kept per device before those that can no longer match are dropped. */
const LET_GO_FROM = 64;

/** Counts by device and type, and by hour. */
function createTallies() {
  const rows = new Map<string, TallyRow>();
  const hours = new Map<number, Tally>();

  function rowOf({ fleetId, deviceId, eventType }: FleetEvent): TallyRow {
    const key = `${fleetId}\u001f${deviceId}\u001f${eventType}`;
    const known = rows.get(key) ?? { fleetId, deviceId, eventType, now: 0, then: 0, same: 0 };
    rows.set(key, known);
    return known;
  }

  function hourOf(appendedAt: number): Tally {
    const hour = Math.floor(appendedAt / HOUR_MS) * HOUR_MS;
    const known = hours.get(hour) ?? { now: 0, then: 0, same: 0 };
    hours.set(hour, known);
    return known;
  }

  function count(event: FleetEvent, appendedAt: number, what: keyof Tally): void {
    rowOf(event)[what] += 1;
    hourOf(appendedAt)[what] += 1;
  }

  return { rows, hours, count };
}

export function createComparison(): Comparison {
  const { rows, hours, count } = createTallies();
  const open = new Map<string, Open>();

  function made(event: FleetEvent, side: 'now' | 'then', unmatched: Open, { appendedAt, inRange }: ComparedPing): void {
    const name = identity(event);
    const other = unmatched.get(name);
    const isMatch = other !== undefined && other.side !== side;
    const counts = isMatch ? other.inRange : inRange;
    if (counts) count(event, appendedAt, side);
    if (!isMatch) {
      unmatched.set(name, { eventTime: event.eventTime, side, inRange, times: (other?.times ?? 0) + 1 });
      return;
    }
    if (counts) count(event, appendedAt, 'same');
    other.times -= 1;
    if (other.times === 0) unmatched.delete(name);
  }

  return {
    add(ping) {
      const { device, now, then } = ping;
      if (now.length === 0 && then.length === 0) return;
      const unmatched: Open = open.get(device) ?? new Map<string, Unmatched>();
      for (const event of now) made(event, 'now', unmatched, ping);
      for (const event of then) made(event, 'then', unmatched, ping);
      if (unmatched.size > LET_GO_FROM) letGo(unmatched, ping.earliestToCome);
      if (unmatched.size > 0) open.set(device, unmatched);
      else open.delete(device);
    },
    rows: () => [...rows.values()].sort(byPlace),
    totals: () => totalsOf([...rows.values()]),
    hours: () => [...hours].sort(([a], [b]) => a - b),
  };
}

function letGo(unmatched: Open, before: number): void {
  for (const [name, { eventTime }] of unmatched) if (eventTime < before) unmatched.delete(name);
}

/** Identifies an event within its device. */
function identity({ eventType, eventTime, resourceId }: FleetEvent): string {
  return `${eventType}\u001f${String(eventTime)}\u001f${resourceId ?? ''}`;
}

function byPlace(a: TallyRow, b: TallyRow): number {
  return compare(a.fleetId, b.fleetId) || compare(a.deviceId, b.deviceId) || compare(a.eventType, b.eventType);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function totalsOf(rows: readonly TallyRow[]): (Tally & { readonly eventType: string })[] {
  const totals = new Map<string, Tally & { readonly eventType: string }>();
  for (const { eventType, now, then, same } of rows) {
    const total = totals.get(eventType) ?? { eventType, now: 0, then: 0, same: 0 };
    totals.set(eventType, { eventType, now: total.now + now, then: total.then + then, same: total.same + same });
  }
  return [...totals.values()].sort((a, b) => compare(a.eventType, b.eventType));
}
