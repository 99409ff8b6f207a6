import type { Output } from '@waypost/client';
import type { Fleet } from './use-fleets.js';

export type FleetTotals = Output<'getFleetTotals'>;

export interface FleetCounts {
  readonly all: number;
  readonly perMinute: number;
  readonly delivered: number;
  readonly pending: number;
  /** Expired ones have failed, too. */
  readonly failed: number;
  readonly retries: number;
}

export interface FleetRow {
  readonly id: string;
  /** null: it is not among the fleets that were read. */
  readonly fleet: Fleet | null;
  /** null: not known, such as while the figures cannot be read. */
  readonly counts: FleetCounts | null;
}

/** The worst fleets first, as the API has them, and then those without deliveries in the order of their ids. */
export function rowsOf(fleets: readonly Fleet[], totals: FleetTotals | undefined, minutes: number): FleetRow[] {
  const others = new Map(fleets.map((fleet) => [fleet.id, fleet]));
  const rows: FleetRow[] = [];
  for (const { fleetId, deliveries, retries } of totals?.data ?? []) {
    const { delivered, pending, failed, expired } = deliveries;
    const all = delivered + pending + failed + expired;
    const counts = { all, perMinute: all / minutes, delivered, pending, failed: failed + expired, retries };
    rows.push({ id: fleetId, fleet: others.get(fleetId) ?? null, counts });
    others.delete(fleetId);
  }
  const isWhole = totals !== undefined && totals.data.length === totals.fleets;
  const rest = isWhole ? NOTHING : null;
  return [...rows, ...[...others.values()].map((fleet) => ({ id: fleet.id, fleet, counts: rest }))];
}

const NOTHING: FleetCounts = { all: 0, perMinute: 0, delivered: 0, pending: 0, failed: 0, retries: 0 };

/** The rows whose id or name has the text. */
export function rowsWith(text: string, rows: readonly FleetRow[]): readonly FleetRow[] {
  const words = text.trim().toLowerCase();
  return rows.filter(({ id, fleet }) => `${id} ${fleet?.name ?? ''}`.toLowerCase().includes(words));
}

/** `1,250`, `12.5`, `0.02`: few deliveries are not none. */
export function rateText(perMinute: number): string {
  const digits = perMinute >= 100 ? 0 : perMinute >= 10 ? 1 : 2;
  if (perMinute > 0 && perMinute < 0.01) return '< 0.01';
  return perMinute.toLocaleString('en-US', { maximumFractionDigits: digits });
}
