import type { FleetEvent } from '@waypost/domain';

/** Events of one kind, with the rules as they are and as they would be. */
export interface Tally {
  now: number;
  then: number;
  /** In both, at the same time. */
  same: number;
}

export interface TallyRow extends Tally {
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
}

/** Per device and type, what other thresholds would have changed. */
export interface Comparison {
  /** The events of one ping under both. */
  add(appendedAt: number, now: readonly FleetEvent[], then: readonly FleetEvent[]): void;
  /** By fleet, device and type. */
  rows(): readonly TallyRow[];
  totals(): readonly (Tally & { readonly eventType: string })[];
  /** By hour of the log: epoch milliseconds of its beginning. */
  hours(): readonly (readonly [number, Tally])[];
}

const HOUR_MS = 3_600_000;

export function createComparison(): Comparison {
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

  function count(event: FleetEvent, hour: Tally, what: keyof Tally): void {
    rowOf(event)[what] += 1;
    hour[what] += 1;
  }

  return {
    add(appendedAt, now, then) {
      if (now.length === 0 && then.length === 0) return;
      const hour = hourOf(appendedAt);
      const left = now.map(identity);
      for (const event of now) count(event, hour, 'now');
      for (const event of then) {
        count(event, hour, 'then');
        const found = left.indexOf(identity(event));
        if (found < 0) continue;
        left.splice(found, 1);
        count(event, hour, 'same');
      }
    },
    rows: () => [...rows.values()].sort(byPlace),
    totals: () => totalsOf([...rows.values()]),
    hours: () => [...hours].sort(([a], [b]) => a - b),
  };
}

/** What a receiver tells events of a device by. */
const identity = ({ eventType, eventTime, resourceId }: FleetEvent): string =>
  `${eventType}\u001f${String(eventTime)}\u001f${resourceId ?? ''}`;

const byPlace = (a: TallyRow, b: TallyRow): number =>
  compare(a.fleetId, b.fleetId) || compare(a.deviceId, b.deviceId) || compare(a.eventType, b.eventType);

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

function totalsOf(rows: readonly TallyRow[]): (Tally & { readonly eventType: string })[] {
  const totals = new Map<string, Tally & { readonly eventType: string }>();
  for (const { eventType, now, then, same } of rows) {
    const total = totals.get(eventType) ?? { eventType, now: 0, then: 0, same: 0 };
    totals.set(eventType, { eventType, now: total.now + now, then: total.then + then, same: total.same + same });
  }
  return [...totals.values()].sort((a, b) => compare(a.eventType, b.eventType));
}
