import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createGeofenceHistory, DEFAULT_RULE_SETTINGS, type FleetEvent, type RuleSettings } from '@waypost/domain';
import { eventOf, NOON, pingOf } from '../../../../test/support/samples.js';
import { type ComparedPing, createComparison, type TallyRow } from './comparison.js';
import { comparisonReport } from './comparison-report.js';
import { comparisonTable } from './comparison-table.js';
import { createRuleRun, currentRules, earliestToCome } from './rule-run.js';
import { changedSettings } from './thresholds.js';

describe('The comparison of two runs', () => {
  const at = (eventTime: number, more: Partial<FleetEvent> = {}) => eventOf({ eventTime, ...more });
  const ping = (
    now: readonly FleetEvent[],
    then: readonly FleetEvent[],
    more: Partial<ComparedPing> = {},
  ): ComparedPing => ({
    appendedAt: NOON,
    device: 'd',
    now,
    then,
    earliestToCome: -Infinity,
    inRange: true,
    ...more,
  });

  it('counts per device and type what both, only one, or the other would send', () => {
    const comparison = createComparison();
    comparison.add(ping([at(1)], [at(1)]));
    comparison.add(ping([at(2)], []));
    comparison.add(ping([], [at(3, { deviceId: 'device-2' })]));
    comparison.add(ping([at(4, { resourceId: 'a' })], [at(4, { resourceId: 'b' })]));
    expect(comparison.rows()).toEqual([
      { fleetId: 'fleet-1', deviceId: 'device-1', eventType: 'position', now: 3, then: 2, same: 1 },
      { fleetId: 'fleet-1', deviceId: 'device-2', eventType: 'position', now: 0, then: 1, same: 0 },
    ]);
    expect(comparison.totals()).toEqual([{ eventType: 'position', now: 3, then: 3, same: 1 }]);
  });

  it('counts by the hour of the log in which a ping was, named by its beginning', () => {
    const hour = 3_600_000;
    const comparison = createComparison();
    comparison.add(ping([at(1)], [], { appendedAt: NOON + hour }));
    comparison.add(ping([at(2)], [at(2)], { appendedAt: NOON + hour - 1 }));
    comparison.add(ping([], [at(3)], { appendedAt: NOON }));
    expect(comparison.hours()).toEqual([
      [NOON, { now: 1, then: 2, same: 1 }],
      [NOON + hour, { now: 1, then: 0, same: 0 }],
    ]);
  });

  it('is drawn as a table of devices with the most changed rows first, and a table of the sums', () => {
    const comparison = createComparison();
    comparison.add(ping([at(1)], [at(1)]));
    for (const time of [1, 2, 3]) comparison.add(ping([at(time, { deviceId: 'busy' })], []));
    comparison.add(ping([], [at(9, { deviceId: 'calm' })]));
    expect(comparisonTable(comparison, 1).split('\n')).toEqual([
      'fleet    device  type      now  then  change  new  gone',
      'fleet-1  busy    position    3     0      -3    0     3',
      '(1 more rows of devices in the report)',
      '',
      'all devices  now  then  change  new  gone',
      'position       4     2      -2    1     3',
    ]);
  });

  it('says that nothing would change in place of an empty table', () => {
    const comparison = createComparison();
    comparison.add(ping([at(1)], [at(1)]));
    expect(comparisonTable(comparison, 1).split('\n')).toEqual([
      'Nothing would change for any device.',
      '',
      'all devices  now  then  change  new  gone',
      'position       1     1       0    0     0',
    ]);
  });

  it('is drawn as a page that shows the changed thresholds and escapes what devices call themselves', () => {
    const comparison = createComparison();
    comparison.add(ping([at(1, { deviceId: '<script>' })], []));
    const then = changedSettings({ window: 300_000, stillAfter: 60_000 });
    const page = comparisonReport(comparison, { now: DEFAULT_RULE_SETTINGS, then, range: 'All', pings: 1 });
    expect(page).toContain('<td>positionWindowMs</td><td class="n">180000</td><td class="n">300000</td>');
    expect(page).toContain('<td>routes.stillMs</td>');
    expect(page).not.toContain('<script>');
    expect(page).toContain('<dt>position</dt><dd><i class="now" style="width:100.0%"></i>1</dd>');
    expect(page).not.toContain('<text');
  });
});

describe('Events that the two runs make with different pings', () => {
  const at = (eventTime: number) => eventOf({ eventTime });
  const ping = (now: readonly FleetEvent[], then: readonly FleetEvent[], inRange = true): ComparedPing => ({
    appendedAt: NOON,
    device: 'd',
    now,
    then,
    earliestToCome: -Infinity,
    inRange,
  });

  it('are the same event when one shows it some pings later', () => {
    const comparison = createComparison();
    comparison.add(ping([at(1)], []));
    comparison.add(ping([], [at(2)]));
    comparison.add(ping([at(2)], [at(1)]));
    expect(comparison.totals()).toEqual([{ eventType: 'position', now: 2, then: 2, same: 2 }]);
  });

  it('count where the earlier of the two emits them: not at all if that is before the range', () => {
    const comparison = createComparison();
    comparison.add(ping([at(1)], [], false));
    comparison.add(ping([], [at(1)]));
    comparison.add(ping([], [at(2)]));
    expect(comparison.totals()).toEqual([{ eventType: 'position', now: 0, then: 1, same: 0 }]);
  });

  it('are not taken for those of another device', () => {
    const comparison = createComparison();
    comparison.add({ ...ping([at(1)], []), device: 'a' });
    comparison.add({ ...ping([], [at(1)]), device: 'b' });
    expect(comparison.totals()).toMatchObject([{ same: 0 }]);
  });

  it('are neither new nor gone when a route has only to stand longer until its end is seen', () => {
    const minute = 60_000;
    // Two minutes on the road, then standing with the ignition on.
    const pings = Array.from({ length: 30 }, (_, index) => ({
      eventTime: NOON + index * minute,
      latitude: 52 + Math.min(index, 3) * 0.005,
      speedInKmh: index < 3 ? 40 : 0,
      ignition: true,
    }));
    const rows = compared(pings, changedSettings({ stillAfter: 10 * minute }));
    const routes = rows.filter(({ eventType }) => /^(route|stop)/.test(eventType));
    expect(routes.map(({ eventType, now, then, same }) => [eventType, now, then, same])).toEqual([
      ['route_finished', 1, 1, 1],
      ['route_started', 1, 1, 1],
      ['stop_started', 1, 1, 1],
    ]);
  });

  it('are remembered only as long as the other run can still make them', () => {
    const comparison = createComparison();
    comparison.add(ping([at(1_000)], []));
    for (let time = 1; time <= 200; time += 1) comparison.add({ ...ping([at(time)], []), earliestToCome: 201 });
    const many = Array.from({ length: 70 }, (_, index) => at(201 + index));
    comparison.add({ ...ping(many, []), earliestToCome: 201 });
    for (const time of [1, 201, 1_000]) comparison.add(ping([], [at(time)]));
    expect(comparison.totals()).toEqual([{ eventType: 'position', now: 271, then: 3, same: 2 }]);
  });

  it('match as if no event were ever dropped, on any journey', () => {
    const step = fc.record({
      stepMs: fc.constantFrom(1_000, 20_000, 60_000, 240_000, 4_000_000),
      speedInKmh: fc.option(fc.constantFrom(0, 2, 40)),
      ignition: fc.option(fc.boolean()),
      positionValid: fc.boolean(),
    });
    const given = fc.record({
      stillAfter: fc.constantFrom(10_000, 300_000, 5_000_000),
      offAfter: fc.constantFrom(1_000, 30_000, 400_000),
      gap: fc.constantFrom(200_000, 3_600_000, 9_000_000),
      window: fc.constantFrom(1_000, 180_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), given, (steps, thresholds) => {
        let eventTime = NOON;
        const pings = steps.map(({ stepMs, ...fields }) => ({ ...fields, eventTime: (eventTime += stepMs) }));
        const settings = changedSettings(thresholds);
        expect(compared(pings, settings)).toEqual(compared(pings, settings, () => -Infinity));
      }),
      { numRuns: 60 },
    );
  });
});

/** @param earliest when nothing older can come any more; -Infinity lets nothing go */
function compared(
  pings: readonly Parameters<typeof pingOf>[0][],
  settings: RuleSettings,
  earliest = earliestToCome,
): readonly TallyRow[] {
  const geofences = createGeofenceHistory();
  const [now, then] = [DEFAULT_RULE_SETTINGS, settings].map((one) =>
    createRuleRun({ ...currentRules(geofences), settings: one }),
  );
  const comparison = createComparison();
  for (const fields of pings) {
    const ping = pingOf(fields);
    const recorded = { partition: 0, appendedAt: ping.receivedTime, key: ping.deviceId, ping };
    const [before, after] = [now?.take(recorded), then?.take(recorded)];
    if (!before?.state || !after?.state) continue;
    comparison.add({
      appendedAt: NOON,
      device: 'd',
      now: before.events,
      then: after.events,
      inRange: true,
      earliestToCome: Math.min(earliest(before.state), earliest(after.state)),
    });
  }
  return comparison.rows();
}
