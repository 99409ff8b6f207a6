import { describe, expect, it } from '@jest/globals';
import {
  createFleetSettingsHistory,
  createGeofenceHistory,
  DEFAULT_RULE_SETTINGS,
  type FleetSettingsHistory,
  type TelemetryPing,
} from '@waypost/domain';
import { eventOf, NOON, pingOf, subscriptionOf } from '../../../../test/support/samples.js';
import type { DecodedRecord } from '../log/decode-batch.js';
import { createDeliveryLedger } from './delivery-ledger.js';
import { createEventLedger, type LedgerEvent } from './event-ledger.js';
import { createRuleRun, currentRules, type RecordedPing, type RunStep } from './rule-run.js';
import { changedSettings, parseDuration, THRESHOLDS } from './thresholds.js';
import { describeDeliveries, differencesOf, enterFollowed, enterLogged } from './verify-report.js';

function recorded(fields: Partial<TelemetryPing>, partition = 0): RecordedPing {
  const ping = pingOf(fields);
  return { partition, appendedAt: ping.receivedTime, key: ping.deviceId, ping };
}

const geofences = createGeofenceHistory();
function run(settings = DEFAULT_RULE_SETTINGS) {
  return createRuleRun({ ...currentRules(geofences), settings });
}
function typesOf({ events }: RunStep): string[] {
  return events.map(({ eventType }) => eventType);
}

describe('A run of the rules over recorded pings', () => {
  it('remembers each device, as the processor does', () => {
    const rules = run();
    expect(typesOf(rules.take(recorded({})))).toEqual(['position']);
    expect(typesOf(rules.take(recorded({ eventTime: NOON + 179_999 })))).toEqual([]);
    expect(typesOf(rules.take(recorded({ eventTime: NOON + 180_000 })))).toEqual(['position']);
  });

  it('produces no events for pings that the processor rejects', () => {
    const rules = run();
    expect(typesOf(rules.take({ ...recorded({}), key: 'another device' }))).toEqual([]);
    expect(typesOf(rules.take(recorded({ eventTime: NOON, receivedTime: NOON - 300_001 })))).toEqual([]);
    const ahead = recorded({ eventTime: NOON + 3_600_000, receivedTime: NOON + 3_600_000 });
    expect(typesOf(rules.take({ ...ahead, appendedAt: NOON }))).toEqual([]);
    expect(typesOf(rules.take(recorded({})))).toEqual(['position']);
  });

  it('leaves out routes when the processor was run without them', () => {
    const drive = [0, 1, 2].map((minute) => recorded({ eventTime: NOON + minute * 60_000, speedInKmh: 50 }));
    const typesOfRun = (rules: 'all' | 'positions'): string[] => {
      const one = createRuleRun(currentRules(geofences, { rules }));
      return drive.flatMap((ping) => typesOf(one.take(ping)));
    };
    expect(typesOfRun('all')).toEqual(['position', 'route_started']);
    expect(typesOfRun('positions')).toEqual(['position']);
  });

  it('has routes for the fleets that wanted them when the ping was appended, or for every fleet', () => {
    const drive = [0, 1, 2, 3].map((minute) =>
      recorded({ eventTime: NOON + minute * 60_000, receivedTime: NOON + minute * 60_000, speedInKmh: 50 }),
    );
    const typesOfRun = (fleetSettings: FleetSettingsHistory | null): string[] => {
      const one = createRuleRun(currentRules(geofences, { fleetSettings }));
      return drive.map((ping) => typesOf(one.take(ping)).join(' '));
    };
    const from = (appendedAt: number): FleetSettingsHistory => {
      const history = createFleetSettingsHistory();
      const fleet = { fleetId: 'fleet-1', name: null, payloadFormat: 'v1', routes: true };
      history.record('fleet-1', { ...fleet, version: 1, createdAt: 0, updatedAt: 0 }, appendedAt);
      return history;
    };
    // A route is known with the second ping that moves.
    expect(typesOfRun(null)).toEqual(['position', 'route_started', '', 'position']);
    expect(typesOfRun(from(NOON))).toEqual(['position', 'route_started', '', 'position']);
    expect(typesOfRun(from(NOON + 1))).toEqual(['position', '', 'route_started', 'position']);
    expect(typesOfRun(from(NOON + 120_001))).toEqual(['position', '', '', 'position']);
    expect(typesOfRun(createFleetSettingsHistory())).toEqual(['position', '', '', 'position']);
  });

  it('keeps separate state for a device found in two partitions', () => {
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
  ])('take %s for %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

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

describe('Recomputed events held against the log', () => {
  const bytes = (text: string): Buffer => Buffer.from(text);
  const entry = (partition: number, encoded: Buffer, name: string, more: Partial<LedgerEvent> = {}) => ({
    partition,
    encoded,
    name,
    isJudged: true,
    inRange: true,
    isSettled: true,
    ...more,
  });

  const nothing = { missing: [], unexpected: [], repeated: [], unreadable: [] };

  it('agree when each event occurs as often as computed, in its partition', () => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'a'));
    ledger.recomputed({ ...entry(1, bytes('b'), 'b'), inRange: false });
    ledger.logged(entry(0, bytes('a'), 'a'));
    ledger.logged(entry(1, bytes('b'), 'b'));
    expect(ledger.findings()).toEqual({ recomputed: 1, logged: 1, unjudged: 0, ...nothing });
  });

  it.each([
    ['missing', [] as const],
    ['repeated', [0, 0] as const],
  ])('are %s when they are there less or more often', (what, partitions) => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'event a'));
    for (const partition of partitions) ledger.logged(entry(partition, bytes('a'), 'event a'));
    expect(ledger.findings()).toMatchObject({ ...nothing, [what]: ['event a'] });
  });

  it('are unexpected when a field or the partition differs, unless they may be newer than the pings read', () => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'a'));
    ledger.logged(entry(0, bytes('a'), 'a'));
    ledger.logged(entry(0, bytes('A'), 'another a'));
    ledger.logged(entry(1, bytes('a'), 'a elsewhere'));
    ledger.logged({ ...entry(0, bytes('z'), 'a new one'), isSettled: false });
    expect(ledger.findings().unexpected).toEqual(['another a', 'a elsewhere']);
  });

  it('are counted, but neither missing nor unexpected, where the state of the device is unknown', () => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'a', { isJudged: false }));
    ledger.logged(entry(0, bytes('b'), 'b', { isJudged: false }));
    expect(ledger.findings()).toEqual({ recomputed: 0, logged: 0, unjudged: 1, ...nothing });
  });

  it('report a record that is not an event by its partition and offset', () => {
    const ledger = createEventLedger();
    const record = { topic: 't', partition: 2, key: null, value: null, problem: 'malformed: cut short' };
    enterLogged(
      [7, 8].map((offset) => ({ ...record, offset, timestamp: offset })),
      {
        ledger,
        entryOf: () => entry(2, bytes('a'), 'a'),
        isSettled: () => true,
        isInRange: ({ timestamp }) => timestamp < 8,
      },
    );
    const unreadable = ['partition 2, offset 7: malformed: cut short'];
    expect(ledger.findings()).toMatchObject({ ...nothing, unreadable });
  });
});

describe('A record of the deliveries or attempts', () => {
  const recordOf = (more: Partial<DecodedRecord>): DecodedRecord => {
    return { topic: 'webhook.deliveries', partition: 2, offset: 7, timestamp: 0, key: null, value: null, ...more };
  };

  it('that cannot be decoded is a difference, by its place', () => {
    const ledger = createDeliveryLedger([]);
    const taken: unknown[] = [];
    const records = [recordOf({ value: 'first' }), recordOf({ problem: 'malformed: cut short' }), recordOf({})];
    enterFollowed(records, ledger, (value) => taken.push(value));
    expect(taken).toEqual(['first']);
    expect(ledger.findings().unreadable).toEqual([
      'webhook.deliveries, partition 2, offset 7: malformed: cut short',
      'webhook.deliveries, partition 2, offset 7: no value',
    ]);
  });

  it('makes the logs differ', () => {
    const deliveries = createDeliveryLedger([]);
    deliveries.unreadable('a place');
    const findings = deliveries.findings();
    expect(differencesOf(createEventLedger().findings(), findings)).toEqual(['a place']);
    expect(describeDeliveries(findings).join('\n')).toContain('unreadable: 1 (a place)');
  });
});

describe('Events followed to their deliveries', () => {
  const subscription = subscriptionOf();
  const publishedAt = NOON - 5_001;
  const event = eventOf();

  function ledgerWith(appendedAt = NOON) {
    const ledger = createDeliveryLedger([
      { subscription, publishedAt },
      { subscription: subscriptionOf({ id: 'other', eventType: 'ignition_on' }), publishedAt },
    ]);
    ledger.event(event, appendedAt);
    return ledger;
  }
  // The id is the one of R-12; the table of docs/reference/event-ids.md holds it against vectors elsewhere.
  const ids: string[] = [];
  const delivery = (series = 0) => ({
    eventId: ids[0] ?? '',
    series,
    subscriptionId: subscription.id,
    createdAt: NOON,
  });

  it('are missing a delivery of a subscription that last changed well before the event', () => {
    expect(ledgerWith().findings()).toMatchObject({ expected: 1, found: 0, missing: [expect.any(String)] });
  });

  it('require nothing for a subscription changed later, since its earlier state is unknown', () => {
    const unjudged = [{ subscriptionId: subscription.id, because: 'changed', found: 0 }];
    expect(ledgerWith(NOON - 6_000).findings()).toMatchObject({ expected: 0, missing: [], unjudged });
  });

  it('name what cannot be judged: deliveries of a subscription that was changed later, and of one that is gone', async () => {
    const { decideFanOut } = await import('@waypost/domain');
    const eventId = [...decideFanOut(event, [subscription], NOON)][0]?.eventId ?? '';
    const ledger = createDeliveryLedger([{ subscription, publishedAt: NOON }], NOON + 1_000);
    ledger.event(event, NOON);
    ledger.delivery({ ...delivery(), eventId });
    const gone = { ...delivery(), subscriptionId: 'gone' };
    ledger.delivery({ ...gone, eventId: 'a' });
    ledger.delivery({ ...gone, eventId: 'b', createdAt: NOON + 999 });
    ledger.delivery({ ...gone, eventId: 'after the range', createdAt: NOON + 1_000 });
    const findings = ledger.findings();
    expect(findings).toMatchObject({ expected: 0, found: 0, missing: [] });
    expect(describeDeliveries(findings)).toEqual([
      'deliveries: 0 expected, 0 found; 0 delivered, 0 failed, 0 pending',
      `  cannot be judged: 3 (1 of subscription ${subscription.id}, which has changed since; 2 of subscription gone, which is gone)`,
    ]);
  });

  it('require nothing for a change published together with the event: fan-out may not have seen it', () => {
    const ledger = createDeliveryLedger([{ subscription: subscriptionOf({ updatedAt: 0 }), publishedAt: NOON - 1 }]);
    ledger.event(event, NOON);
    const unjudged = [{ subscriptionId: subscription.id, because: 'changed', found: 0 }];
    expect(ledger.findings()).toMatchObject({ expected: 0, missing: [], unjudged });
  });

  it.each([
    ['delivered', { delivered: 1, failed: 0, pending: 0 }],
    ['failed', { delivered: 0, failed: 1, pending: 0 }],
    ['pending', { delivered: 0, failed: 0, pending: 1 }],
  ])('are counted as %s by the last attempt', async (outcome, counted) => {
    const { decideFanOut } = await import('@waypost/domain');
    ids[0] = [...decideFanOut(event, [subscription], NOON)][0]?.eventId ?? '';
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
