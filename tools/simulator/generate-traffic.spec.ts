import { describe, expect, it } from '@jest/globals';
import { pingOf } from '../../apps/cli/src/pings/ping-line.js';
import type { TrafficRow } from './fleet-model.js';
import { createFleetModel } from './fleet-model.js';
import { generateTraffic } from './generate-traffic.js';

const startAt = Date.UTC(2026, 0, 15, 8);
const hourMs = 3_600_000;
const options = { seed: 7, vehicles: 30, durationMs: 1.5 * hourMs, startAt };
const rows = generateTraffic(options);

function byDevice(all: readonly TrafficRow[]): TrafficRow[][] {
  const devices = new Map<string, TrafficRow[]>();
  for (const row of all) {
    const device = devices.get(row.deviceId);
    if (device === undefined) devices.set(row.deviceId, [row]);
    else device.push(row);
  }
  return [...devices.values()];
}

function inEventOrder(device: readonly TrafficRow[]): TrafficRow[] {
  return [...device].sort((a, b) => Date.parse(a.eventTime) - Date.parse(b.eventTime));
}

function metersBetween(a: TrafficRow, b: TrafficRow): number {
  const latitude = ((a.latitude ?? 0) * Math.PI) / 180;
  const north = ((b.latitude ?? 0) - (a.latitude ?? 0)) * 111_320;
  const east = ((b.longitude ?? 0) - (a.longitude ?? 0)) * 111_320 * Math.cos(latitude);
  return Math.hypot(north, east);
}

describe('Generated traffic', () => {
  it('is decided by its options alone', () => {
    const shorter = { ...options, vehicles: 5, durationMs: hourMs / 4 };
    expect(generateTraffic(shorter)).toEqual(generateTraffic(shorter));
    expect(generateTraffic({ ...shorter, seed: 8 })).not.toEqual(generateTraffic(shorter));
  });

  it('is the same however often the clock is moved', () => {
    const model = createFleetModel({ seed: 3, vehicles: 5, startAt });
    const inSteps = Array.from({ length: 60 }, (_, step) => model.advanceTo(startAt + (step + 1) * 7_300)).flat();
    const atOnce = createFleetModel({ seed: 3, vehicles: 5, startAt }).advanceTo(startAt + 60 * 7_300);
    expect(inSteps).toEqual(atOnce);
  });

  it('does not change for the others when a vehicle is added', () => {
    const few = { ...options, vehicles: 3, durationMs: hourMs / 4 };
    const more = generateTraffic({ ...few, vehicles: 4 }).filter((row) => row.deviceId !== 'tracker-004');
    expect(more).toEqual(generateTraffic(few));
  });

  it('is made of pings', () => {
    const results = rows.map((row) => pingOf({ ...row }, { fleetId: 'f', shiftMs: 0, keepReceivedTime: true }));
    expect(results.filter((result) => result.type !== 'ping')).toEqual([]);
  });

  it('is never received before it was sent', () => {
    expect(rows.filter((row) => Date.parse(row.receivedTime) < Date.parse(row.eventTime))).toEqual([]);
  });

  it('has the troubles of real feeds: lost fixes, buffered, late and repeated pings, devices without a bus', () => {
    const late = byDevice(rows).flatMap((device) =>
      device.filter((row, index) => index > 0 && row.eventTime < (device[index - 1]?.eventTime ?? '')),
    );
    const repeated = rows.length - new Set(rows.map((row) => `${row.deviceId} ${String(row.seq)}`)).size;
    const buses = new Set(rows.filter((row) => row.rpm !== undefined).map((row) => row.deviceId));
    expect(rows.some((row) => row.latitude === undefined)).toBe(true);
    expect(rows.some((row) => row.latitude === 0 && row.longitude === 0)).toBe(true);
    expect(rows.some((row) => row.buffered === true)).toBe(true);
    expect(late.length).toBeGreaterThan(0);
    expect(repeated).toBeGreaterThan(0);
    expect(buses.size).toBeGreaterThan(0);
    expect(buses.size).toBeLessThan(options.vehicles);
  });

  it('turns keys off and on', () => {
    const turns = byDevice(rows).flatMap((device) =>
      inEventOrder(device).filter(
        ({ ignition }, index, all) => index > 0 && ignition !== undefined && ignition !== all[index - 1]?.ignition,
      ),
    );
    expect(new Set(turns.map((row) => row.ignition))).toEqual(new Set([true, false]));
  });

  it('stays within what vehicles can do', () => {
    for (const device of byDevice(rows).map(inEventOrder)) {
      const fixes = device.filter((row) => row.latitude !== undefined && row.latitude !== 0);
      const jumps = fixes.filter((fix, index) => {
        const before = fixes[index - 1] ?? fix;
        const seconds = (Date.parse(fix.eventTime) - Date.parse(before.eventTime)) / 1_000;
        // 90 km/h, and the error of two fixes.
        return metersBetween(before, fix) > seconds * 25 + 20;
      });
      expect(jumps).toEqual([]);
      expect(Math.max(...fixes.map((fix) => fix.speedKmh ?? 0))).toBeLessThan(95);
    }
  });

  it('never turns an odometer back, and counts the distance driven', () => {
    for (const device of byDevice(rows).map(inEventOrder)) {
      const readings = device.flatMap((row) => row.odometerM ?? []);
      expect(readings).toEqual([...readings].sort((a, b) => a - b));
    }
  });

  it('pings every 10 s on the road', () => {
    const [longest] = byDevice(rows).sort((a, b) => b.length - a.length);
    const times = inEventOrder(longest ?? []).map((row) => Date.parse(row.eventTime));
    const gaps = times.map((time, index) => time - (times[index - 1] ?? time)).filter((gap) => gap > 0);
    expect(gaps.filter((gap) => gap === 10_000).length / gaps.length).toBeGreaterThan(0.9);
  });
});
