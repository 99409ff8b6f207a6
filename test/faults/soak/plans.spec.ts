import { describe, expect, it } from '@jest/globals';
import type { AppInstance } from '../shared/app-instance.js';
import { soakSchedule, upgradeSchedule } from './plans.js';
import { type SoakApp, SPARED_FROM } from './stage.js';

const HOUR_MS = 3_600_000;

describe('the faults of a soak run (R-40)', () => {
  it('follow from the seed', () => {
    expect(soakSchedule(7, HOUR_MS)).toEqual(soakSchedule(7, HOUR_MS));
    expect(soakSchedule(8, HOUR_MS)).not.toEqual(soakSchedule(7, HOUR_MS));
  });

  it('leave the processes alone in which a leak has to show, and meet all others', () => {
    const met = soakSchedule(7, HOUR_MS).flatMap(({ fault }) => ('instance' in fault ? [fault.instance] : []));
    expect([...new Set(met)].sort()).toEqual(Array.from({ length: SPARED_FROM }, (_, instance) => instance));
  });
});

describe('the order of an upgrade (R-40)', () => {
  it('has each instance once, and who reads a topic before who writes it', () => {
    const apps: SoakApp[] = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'telemetry-processor'];
    const all = apps.map((app, instance) => ({ app, instance: { instance } as AppInstance }));
    const schedule = upgradeSchedule({ all }, 60_000);
    expect(schedule.map(({ fault }) => fault.instance)).toEqual([2, 1, 0, 3]);
    const times = schedule.map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(Math.max(...times)).toBeLessThan(60_000);
  });
});
