import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { formatCredential } from '@waypost/domain';
import { ATTEMPT_CLASSES, type DeliveryFigures, type SummedFigures } from '@waypost/history-store';
import { startTestApiPerTest } from '../testing/test-api.js';
import type { FleetTotalsDto } from './fleet-metrics.dto.js';

const NOON = Date.UTC(2026, 5, 20, 12);
const DAY = `startDate=${iso(NOON - 86_400_000)}&endDate=${iso(NOON)}`;
const ADMIN = formatCredential('adminKey', Buffer.alloc(32, 1));
const open = startTestApiPerTest({
  now: () => NOON,
  adminKeyHashes: [createHash('sha256').update(ADMIN).digest()],
});

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

function figuresOf(some: Partial<SummedFigures>): SummedFigures {
  const counts = { started: 0, delivered: 0, failed: 0, expired: 0, retries: 0, probes: 0 };
  return { ...counts, attempts: ATTEMPT_CLASSES.map(() => 0), latency: [], retryLateness: [], ...some };
}

/** What an operator reads of fleets with these figures. */
async function totalsOf(fleets: Readonly<Record<string, Partial<SummedFigures>>>): Promise<FleetTotalsDto['data']> {
  const rows = Object.entries(fleets).map(([group, some]) => ({ group, figures: figuresOf(some) }));
  const figures: DeliveryFigures = {
    read: () => Promise.resolve({ type: 'figures', rows: [] }),
    sum: () => Promise.resolve({ type: 'figures', rows }),
  };
  const { request } = await open({ figures });
  const { body } = await request(`/public/v2/fleets/totals?${DAY}`, { key: ADMIN });
  return (body as FleetTotalsDto).data;
}

describe('the fleets of an operator (R-41)', () => {
  it('have those first whose deliveries failed or expired, then those with retries, then the busy ones', async () => {
    const worstFirst = await totalsOf({
      quiet: { started: 1 },
      busy: { started: 9 },
      retried: { started: 2, retries: 3 },
      failing: { started: 9, failed: 2, retries: 9 },
      expiring: { started: 3, failed: 1, expired: 2 },
    });
    expect(worstFirst.map(({ fleetId }) => fleetId)).toEqual(['expiring', 'failing', 'retried', 'busy', 'quiet']);
  });

  it('have what is neither delivered nor over as pending, and nothing where more has ended than has begun', async () => {
    const [begunBefore, usual] = await totalsOf({
      begunBefore: { started: 1, delivered: 1, failed: 1, expired: 2 },
      usual: { started: 9, delivered: 4, failed: 1, expired: 1 },
    });
    expect(begunBefore?.deliveries).toEqual({ delivered: 1, failed: 1, expired: 2, pending: 0 });
    expect(usual?.deliveries).toEqual({ delivered: 4, failed: 1, expired: 1, pending: 3 });
  });
});
