import { describe, expect, it } from '@jest/globals';
import { durationOf, targetsOf } from './fault.js';
import { makeSchedule, type ScheduleOptions } from './schedule.js';

const options: ScheduleOptions = {
  seed: 1,
  durationMs: 300_000,
  instances: 4,
  running: 2,
  namedInstances: 3,
  brokers: 3,
  partitions: 4,
  sessionTimeoutMs: 7_000,
  everyMs: 3_000,
};
const seeds = Array.from({ length: 20 }, (_, index) => index + 1);

describe('a schedule of faults', () => {
  it('is decided by its options', () => {
    expect(makeSchedule(options)).toEqual(makeSchedule(options));
    expect(makeSchedule(options)).not.toEqual(makeSchedule({ ...options, seed: 2 }));
  });

  it.each(seeds)('never hits a target that an earlier fault still holds (seed %i)', (seed) => {
    const heldUntil = new Map<string, number>();
    for (const { atMs, fault } of makeSchedule({ ...options, seed })) {
      for (const target of targetsOf(fault)) {
        expect(heldUntil.get(target) ?? 0).toBeLessThanOrEqual(atMs);
        heldUntil.set(target, atMs + durationOf(fault));
      }
    }
  });

  it.each(seeds)('leaves at least one instance in the group, and starts only those that are away (seed %i)', (seed) => {
    const up = new Set([0, 1]);
    for (const { fault } of makeSchedule({ ...options, seed })) {
      if (fault.kind === 'processor-leave') expect(up.delete(fault.instance)).toBe(true);
      else if (fault.kind === 'processor-join') expect(up.has(fault.instance)).toBe(false);
      else if ('instance' in fault) expect(up.has(fault.instance)).toBe(true);
      if (fault.kind === 'processor-join') up.add(fault.instance);
      expect(up.size).toBeGreaterThan(0);
    }
  });

  it('holds every kind of fault within some minutes, a coordinator only where there are several brokers', () => {
    const kinds = (brokers: number) => new Set(makeSchedule({ ...options, brokers }).map(({ fault }) => fault.kind));
    expect(kinds(3).size).toBe(15);
    expect(kinds(1).size).toBe(14);
    expect(kinds(1)).not.toContain('coordinator-kill');
  });

  it('pauses beyond the session timeout, so that zombies wake up', () => {
    const pauses = makeSchedule(options).filter(({ fault }) => fault.kind === 'processor-pause');
    expect(Math.max(...pauses.map(({ fault }) => durationOf(fault)))).toBeGreaterThan(options.sessionTimeoutMs);
  });
});
