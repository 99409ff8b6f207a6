import { describe, expect, it } from '@jest/globals';
import { createGeofenceHistory, DEFAULT_RULE_SETTINGS, type FleetEvent, type TelemetryPing } from '@waypost/domain';
import { eventOf, NOON, pingOf, subscriptionOf } from '../../../test/support/samples.js';
import { createComparison } from './comparison.js';
import { comparisonReport } from './comparison-report.js';
import { comparisonTable } from './comparison-table.js';
import { createDeliveryLedger } from './delivery-ledger.js';
import { createEventLedger } from './event-ledger.js';
import { createRuleRun, type RecordedPing } from './rule-run.js';
import { changedSettings, parseDuration, THRESHOLDS } from './thresholds.js';

const recorded = (fields: Partial<TelemetryPing>, partition = 0): RecordedPing => {
  const ping = pingOf(fields);
  return { partition, appendedAt: ping.receivedTime, key: ping.deviceId, ping };
};

const run = (settings = DEFAULT_RULE_SETTINGS) => createRuleRun(settings, createGeofenceHistory());
const typesOf = (events: readonly FleetEvent[]): string[] => events.map(({ eventType }) => eventType);

describe('A run of the rules over recorded pings', () => {
  it('remembers each device, as the processor does', () => {
    const rules = run();
    expect(typesOf(rules.take(recorded({})))).toEqual(['position']);
    expect(typesOf(rules.take(recorded({ eventTime: NOON + 179_999 })))).toEqual([]);
    expect(typesOf(rules.take(recorded({ eventTime: NOON + 180_000 })))).toEqual(['position']);
  });

  it('makes nothing of pings that the processor rejects', () => {
    const rules = run();
    expect(rules.take({ ...recorded({}), key: 'another device' })).toEqual([]);
    expect(rules.take(recorded({ eventTime: NOON, receivedTime: NOON - 300_001 }))).toEqual([]);
    expect(typesOf(rules.take(recorded({})))).toEqual(['position']);
  });

  it('keeps a device that lies in two partitions apart, as their stores are', () => {
    const rules = run();
    expect(typesOf(rules.take(recorded({}, 0)))).toEqual(['position']);
    expect(typesOf(rules.take(recorded({ eventTime: NOON + 1_000 }, 1)))).toEqual(['position']);
  });
});

describe('The thresholds of a back-test', () => {
  it.each([
    ['300s', 300_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
  ])('take %s for %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['300', '', '-5s', '0s', '5 minutes', 's'])('refuse "%s"', (text) => {
    expect(() => parseDuration(text)).toThrow('duration');
  });

  it('each change one value of the rules and nothing else', () => {
    for (const { name } of THRESHOLDS) {
      const [before, after] = [DEFAULT_RULE_SETTINGS, changedSettings({ [name]: 7_777 })].map((settings) =>
        JSON.stringify(settings).match(/[^,{}]+/g),
      );
      const differing = (after ?? []).filter((part, index) => part !== before?.[index]);
      expect({ name, differing }).toEqual({ name, differing: [expect.stringMatching(/:7777$/)] });
    }
  });

  it('are the rules as they are when none is given', () => {
    expect(changedSettings({ window: undefined })).toEqual(DEFAULT_RULE_SETTINGS);
  });
});

describe('The comparison of two runs', () => {
  const at = (eventTime: number, more: Partial<FleetEvent> = {}) => eventOf({ eventTime, ...more });

  it('counts per device and type what both, only one, or the other would send', () => {
    const comparison = createComparison();
    comparison.add(NOON, [at(1)], [at(1)]);
    comparison.add(NOON, [at(2)], []);
    comparison.add(NOON, [], [at(3, { deviceId: 'device-2' })]);
    comparison.add(NOON, [at(4, { resourceId: 'a' })], [at(4, { resourceId: 'b' })]);
    expect(comparison.rows()).toEqual([
      { fleetId: 'fleet-1', deviceId: 'device-1', eventType: 'position', now: 3, then: 2, same: 1 },
      { fleetId: 'fleet-1', deviceId: 'device-2', eventType: 'position', now: 0, then: 1, same: 0 },
    ]);
    expect(comparison.totals()).toEqual([{ eventType: 'position', now: 3, then: 3, same: 1 }]);
  });

  it('is drawn as a table with the most changed rows first, and the sums', () => {
    const comparison = createComparison();
    comparison.add(NOON, [at(1)], [at(1)]);
    for (const time of [1, 2, 3]) comparison.add(NOON, [at(time, { deviceId: 'busy' })], []);
    comparison.add(NOON, [], [at(9, { deviceId: 'calm' })]);
    expect(comparisonTable(comparison, 1).split('\n')).toEqual([
      'fleet    device  type      now  then  change  new  gone',
      'fleet-1  busy    position    3     0      -3    0     3',
      'all              position    4     2      -2    1     3',
      '(1 more rows of devices in the report)',
    ]);
  });

  it('is drawn as a page that shows the changed thresholds and escapes what devices call themselves', () => {
    const comparison = createComparison();
    comparison.add(NOON, [at(1, { deviceId: '<script>' })], []);
    const then = changedSettings({ window: 300_000, stillAfter: 60_000 });
    const page = comparisonReport(comparison, { now: DEFAULT_RULE_SETTINGS, then, range: 'All', pings: 1 });
    expect(page).toContain('<td>positionWindowMs</td><td class="n">180000</td><td class="n">300000</td>');
    expect(page).toContain('<td>routes.stillMs</td>');
    expect(page).not.toContain('<script>');
    expect(page.match(/<svg/g)).toHaveLength(2);
  });
});

describe('Recomputed events held against the log', () => {
  const bytes = (text: string): Buffer => Buffer.from(text);

  it('agree when each is there as often as it was made, in its partition', () => {
    const ledger = createEventLedger();
    ledger.recomputed(0, bytes('a'), 'a', true);
    ledger.recomputed(1, bytes('b'), 'b', false);
    ledger.logged(0, bytes('a'), 'a', true);
    ledger.logged(1, bytes('b'), 'b', true);
    expect(ledger.findings()).toEqual({ recomputed: 1, logged: 1, missing: [], unexpected: [], repeated: [] });
  });

  it.each([
    ['missing', [] as const],
    ['repeated', [0, 0] as const],
  ])('are %s when they are there less or more often', (what, partitions) => {
    const ledger = createEventLedger();
    ledger.recomputed(0, bytes('a'), 'event a', true);
    for (const partition of partitions) ledger.logged(partition, bytes('a'), 'event a', true);
    expect(ledger.findings()).toMatchObject({ missing: [], repeated: [], [what]: ['event a'] });
  });

  it('are unexpected when a field differs or the partition does, unless they may be newer than what was read', () => {
    const ledger = createEventLedger();
    ledger.recomputed(0, bytes('a'), 'a', true);
    ledger.logged(0, bytes('a'), 'a', true);
    ledger.logged(0, bytes('A'), 'another a', true);
    ledger.logged(1, bytes('a'), 'a elsewhere', true);
    ledger.logged(0, bytes('z'), 'a new one', false);
    expect(ledger.findings().unexpected).toEqual(['another a', 'a elsewhere']);
  });
});

describe('Events followed to their deliveries', () => {
  const subscription = subscriptionOf({ updatedAt: NOON - 1 });
  const event = eventOf();

  function ledgerWith(appendedAt = NOON) {
    const ledger = createDeliveryLedger([subscription, subscriptionOf({ id: 'other', eventType: 'ignition_on' })]);
    ledger.event(event, appendedAt);
    return ledger;
  }
  // The id is the one of R-12; the table of docs/event-ids.md holds it against vectors elsewhere.
  const ids: string[] = [];
  const delivery = (series = 0) => ({ eventId: ids[0] ?? '', series, eventType: 'position', deviceId: 'device-1' });

  it('lack the delivery of a subscription that has not changed since before the event', () => {
    expect(ledgerWith().findings()).toMatchObject({ expected: 1, found: 0, missing: [expect.any(String)] });
  });

  it('lack nothing of a subscription that was changed later: nobody knows what it was then', () => {
    expect(ledgerWith(NOON - 2).findings()).toMatchObject({ expected: 0, missing: [], changedSubscriptions: 1 });
  });

  it.each([
    ['delivered', { delivered: 1, failed: 0, pending: 0 }],
    ['failed', { delivered: 0, failed: 1, pending: 0 }],
    ['pending', { delivered: 0, failed: 0, pending: 1 }],
  ])('are counted as %s by the last attempt', async (outcome, counted) => {
    const { decideFanOut } = await import('@waypost/domain');
    ids[0] = decideFanOut(event, [subscription], NOON)[0]?.eventId ?? '';
    const ledger = ledgerWith();
    ledger.delivery(delivery());
    ledger.attempt({ ...delivery(), outcome: 'pending' });
    ledger.attempt({ ...delivery(), outcome });
    // A replay is another series, and no final word on the first.
    ledger.delivery(delivery(1));
    ledger.attempt({ ...delivery(1), outcome: 'failed' });
    expect(ledger.findings()).toMatchObject({ found: 1, missing: [], repeated: [], ...counted });
    ledger.delivery(delivery());
    expect(ledger.findings().repeated).toEqual([ids[0]]);
  });
});
