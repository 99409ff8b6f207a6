import { describe, expect, it } from '@jest/globals';
import { makeProjectionSchedule } from './faults.js';

const options = { seed: 5, durationMs: 120_000, projectors: 2, sessionTimeoutMs: 7_000, everyMs: 1_000 };

describe('the schedule of faults for the projection', () => {
  it('is the same for the same seed and another for another', () => {
    expect(makeProjectionSchedule(options)).toEqual(makeProjectionSchedule(options));
    expect(makeProjectionSchedule({ ...options, seed: 6 })).not.toEqual(makeProjectionSchedule(options));
  });

  it('has every kind of fault before the pack starts again', () => {
    const kinds = makeProjectionSchedule(options)
      .slice(0, 22)
      .map(({ fault }) => fault.kind);
    expect([...new Set(kinds)].sort()).toEqual([
      ...[
        'backend-kill',
        'batch-end',
        'broker-cut',
        'broker-full',
        'broker-hole',
        'broker-kill',
        'broker-restart',
        'database-full',
        'database-kill',
        'database-restart',
        'network-crawl',
        'network-cut',
      ],
      ...['network-hole', 'projector-kill', 'projector-pause', 'projector-replace', 'projector-restart', 'rival'],
      'sessions-end',
    ]);
  });

  it('lets some projectors sleep for longer than the group waits for them', () => {
    const pauses = makeProjectionSchedule(options).flatMap(({ fault }) =>
      fault.kind === 'projector-pause' ? [fault.forMs] : [],
    );
    expect(Math.max(...pauses)).toBeGreaterThan(options.sessionTimeoutMs);
    expect(Math.min(...pauses)).toBeLessThan(options.sessionTimeoutMs);
  });
});
