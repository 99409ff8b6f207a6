import { describe, expect, it } from '@jest/globals';
import type { DevicePath } from '@waypost/client';
import type { Part } from '../shared/first-of.js';
import { type FleetMarks, readFleetMarks } from './fleet-marks.js';

const NOW = Date.UTC(2026, 2, 20, 12);
const MINUTE_MS = 60_000;
/** As many as a read takes. */
const MOST = 1_000;

interface Ping {
  readonly device: string;
  readonly atMs: number;
}

/** Vehicles that have reported every ten seconds for a quarter of an hour. */
function busyFleet(count: number): Ping[] {
  return Array.from({ length: count }, (_, index) => `van-${String(1_000 + index)}`).flatMap((device) =>
    Array.from({ length: 90 }, (_, n) => ({ device, atMs: NOW - 10_000 * (90 - n) })),
  );
}

/** As the API has them: by vehicle, then by time. */
function storeOf(pings: readonly Ping[]) {
  const windows: number[] = [];
  const state = { nowMs: NOW, known: undefined as FleetMarks | undefined };
  function read(startMs: number): Promise<Part<DevicePath>> {
    windows.push((state.nowMs - startMs) / 1_000);
    const found = pings.filter(({ atMs }) => atMs >= startMs && atMs <= state.nowMs);
    const items = found.slice(0, MOST).map(({ device, atMs }) => ({
      device_id: device,
      points: [{ time: new Date(atMs).toISOString(), latitude: 52, longitude: atMs % 180, valid: true }],
    }));
    return Promise.resolve({ items, hasMore: found.length > MOST });
  }
  async function readAt(nowMs: number): Promise<FleetMarks> {
    state.nowMs = nowMs;
    return (state.known = await readFleetMarks(state.known, nowMs, read));
  }
  return { readAt, windows };
}

describe('the vehicles of a fleet', () => {
  it('are all there where one read has all points, each at its newest place', async () => {
    const { readAt, windows } = storeOf(busyFleet(10));
    const { marks, hasMore } = await readAt(NOW);
    expect([marks.length, hasMore, windows]).toEqual([10, false, [900]]);
    expect(new Set(marks.map(({ time }) => time))).toEqual(new Set(['2026-03-20T11:59:50.000Z']));
  });

  it('are there by what they have reported lately where there are too many points of the whole window', async () => {
    const { readAt, windows } = storeOf(busyFleet(150));
    const { marks, hasMore } = await readAt(NOW);
    expect([marks.length, hasMore, windows]).toEqual([150, true, [900, 60]]);
  });

  it('are all there for a reader whose clock is minutes ahead', async () => {
    const { readAt } = storeOf(busyFleet(150));
    const { marks } = await readAt(NOW + 3 * MINUTE_MS);
    expect(marks).toHaveLength(150);
  });

  it('are read by a still shorter window where a minute is too much', async () => {
    const { readAt, windows } = storeOf(busyFleet(900));
    const { marks } = await readAt(NOW);
    expect([marks.length, windows]).toEqual([900, [900, 60, 15]]);
  });

  it('are followed by what is new, and read as a whole once a minute', async () => {
    const { readAt, windows } = storeOf(busyFleet(10));
    for (const seconds of [0, 5, 10, 60]) await readAt(NOW + 1_000 * seconds);
    expect(windows).toEqual([900, 60, 60, 900]);
  });

  it('move on with what is new, appear, and stay where they were while they say nothing', async () => {
    const { readAt } = storeOf([
      { device: 'van-2', atMs: NOW - 10 * MINUTE_MS },
      { device: 'van-3', atMs: NOW - MINUTE_MS },
      { device: 'van-1', atMs: NOW + 4_000 },
      { device: 'van-3', atMs: NOW + 3_000 },
    ]);
    await readAt(NOW);
    const { marks } = await readAt(NOW + 5_000);
    expect(marks.map(({ label, time }) => [label, Date.parse(time) - NOW])).toEqual([
      ['van-1', 4_000],
      ['van-2', -10 * MINUTE_MS],
      ['van-3', 3_000],
    ]);
  });

  it('are gone after a quarter of an hour without a report', async () => {
    const { readAt } = storeOf([{ device: 'van-1', atMs: NOW - 14 * MINUTE_MS }]);
    expect((await readAt(NOW)).marks).toHaveLength(1);
    expect((await readAt(NOW + 2 * MINUTE_MS)).marks).toEqual([]);
  });
});
