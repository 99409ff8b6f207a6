import { describe, expect, it } from '@jest/globals';
import type { Finding } from './finding.js';
import type { ScopedTopic } from './kafka-scope.js';
import { checkPartitions } from './partition-checks.js';
import { checkTopics, type FoundTopic } from './topic-checks.js';

const LIMITS = {
  'max.message.bytes': '1048576',
  'retention.ms': '1382400000',
  'retention.bytes': '-1',
  'segment.ms': '86400000',
  'delete.retention.ms': '86400000',
};
const PINGS: ScopedTopic = {
  name: 'telemetry.pings',
  partitions: 'default',
  configs: { 'cleanup.policy': 'delete', ...LIMITS },
};
const SCOPE = { topics: [PINGS], partitions: 4, replicationFactor: 3, user: undefined };
const GOOD = { 'cleanup.policy': 'delete', ...LIMITS, 'min.insync.replicas': '2' };
const WHOLE = { replicas: 3, inSync: 3, leaderless: 0, behind: 0 };

function topic(found: Partial<Omit<FoundTopic, 'configs'>>, configs: Readonly<Record<string, string>> = {}): Finding[] {
  const settings = new Map(Object.entries({ ...GOOD, ...configs }));
  const whole = { ...WHOLE, partitions: 4, ...found, configs: settings };
  return checkTopics(SCOPE, new Map([['telemetry.pings', whole]])).filter(({ level }) => level !== 'ok');
}

describe('what the doctor says of topics that are there (R-40)', () => {
  it('finds nothing in three replicas of which two acknowledge', () => {
    expect(topic({})).toEqual([]);
  });

  it('finds nothing in records that are kept for longer, or for ever', () => {
    expect(topic({}, { 'retention.ms': '1382400001', 'delete.retention.ms': '86400001' })).toEqual([]);
    expect(topic({}, { 'retention.ms': '-1' })).toEqual([]);
  });

  it('finds nothing in shorter files', () => {
    expect(topic({}, { 'segment.ms': '3600000' })).toEqual([]);
  });

  it.each([
    ['it has fewer replicas than must be in sync', 'problem', { replicas: 1 }, {}, 'min.insync.replicas=1'],
    [
      'deletions go before they are read',
      'problem',
      {},
      { 'delete.retention.ms': '3600000' },
      'delete.retention.ms=86400000',
    ],
    ['no broker may be away', 'warning', {}, { 'min.insync.replicas': '3' }, 'min.insync.replicas=2'],
    ['a partition has no leader', 'problem', { leaderless: 1 }, {}, 'A broker is down: start it again'],
    ['a replica has fallen behind', 'warning', { behind: 2 }, {}, 'under-replicated'],
    ['records may be smaller than ours', 'problem', {}, { 'max.message.bytes': '1000' }, 'max.message.bytes=1048576'],
    ['records go too soon', 'problem', {}, { 'retention.ms': '604800000' }, 'retention.ms=1382400000'],
    ['records go when there are many', 'problem', {}, { 'retention.bytes': '1073741824' }, 'retention.bytes=-1'],
    ['files last longer than ours', 'warning', {}, { 'segment.ms': '604800000' }, 'segment.ms=86400000'],
    ['one broker alone may acknowledge', 'warning', {}, { 'min.insync.replicas': '1' }, 'min.insync.replicas=2'],
    ['it is compacted where it must not be', 'problem', {}, { 'cleanup.policy': 'compact' }, 'cleanup.policy=delete'],
  ] as const)('says what to do when %s', (_, level, found, configs, fix) => {
    const worst = topic(found, configs).find((finding) => finding.fix?.includes(fix));
    expect(worst?.level).toBe(level);
    expect(worst?.what).toContain('telemetry.pings');
  });

  it.each([
    ['fewer replicas are in sync than writing needs', { inSync: 1, behind: 2 }, '2', ['problem', 'warning']],
    ['one replica is away that writing does not need', { inSync: 2, behind: 2 }, '2', ['warning']],
    ['all replicas are in sync that there are', { replicas: 1, inSync: 1 }, '1', ['warning']],
    ['no partition has a leader', { inSync: null, leaderless: 4 }, '2', ['problem']],
  ] as const)('tells a topic that nothing can be written to from one that can: %s', (_, found, minInSync, levels) => {
    const findings = topic(found, { 'min.insync.replicas': minInSync });
    expect(findings.map(({ level }) => level)).toEqual(levels);
  });

  it.each([
    ['keeps versions by time', 'problem', { 'min.compaction.lag.ms': '1382400000' }],
    ['keeps the newest record of a key', 'warning', {}],
  ])('names the stamps of writers in a compacted topic that %s: a %s', (_, level, more) => {
    const configs = { 'cleanup.policy': 'compact', 'message.timestamp.type': 'LogAppendTime', ...more };
    const found = { ...WHOLE, partitions: 1 };
    const stamped = new Map(Object.entries({ ...configs, 'message.timestamp.type': 'CreateTime' }));
    const topics: ScopedTopic[] = [{ name: 'compacted', partitions: 1, configs }];
    expect(
      checkTopics({ ...SCOPE, topics }, new Map([['compacted', { ...found, configs: stamped }]]))[0],
    ).toMatchObject({
      level,
      fix: expect.stringContaining('--entity-name compacted --add-config message.timestamp.type=LogAppendTime'),
    });
  });

  it('says nothing of settings that this login may not read', () => {
    const found = new Map([['telemetry.pings', { ...WHOLE, partitions: 4, configs: new Map() }]]);
    expect(checkTopics(SCOPE, found).filter(({ level }) => level !== 'ok')).toEqual([]);
  });

  it('warns of fewer replicas than are wanted, which no set-up changes', () => {
    const [finding] = topic({ replicas: 2 }, { 'min.insync.replicas': '1' });
    expect(finding).toMatchObject({ level: 'warning', fix: expect.stringContaining('kafka-reassign-partitions') });
  });
});

describe('what the doctor says of numbers of partitions (R-40)', () => {
  const topics: ScopedTopic[] = [
    ...['telemetry.pings', 'fleet.events', 'webhook.attempts'].map((name): ScopedTopic => ({
      name,
      partitions: 'default',
      configs: {},
    })),
    { name: 'fleet.geofences', partitions: 1, configs: {} },
  ];
  const check = (partitions: number | null, found: Readonly<Record<string, number>>) =>
    checkPartitions({ topics, partitions }, new Map(Object.entries(found)));

  it('is the fix of set-up', () => {
    const [events, geofences] = check(4, { 'telemetry.pings': 4, 'fleet.events': 8, 'fleet.geofences': 8 });
    expect(events).toMatchObject({
      level: 'problem',
      what: 'fleet.events has 8 partitions where 4 are expected',
      fix: expect.stringMatching(/^Set WAYPOST_PARTITIONS .* delete fleet\.events/),
    });
    expect(geofences).toMatchObject({
      level: 'problem',
      what: 'fleet.geofences has 8 partitions where 1 are expected',
      fix: 'Delete the topic so that it is created again.',
    });
  });

  it('is nothing where an application does not know the number and all topics have the same', () => {
    const found = { 'telemetry.pings': 8, 'fleet.events': 8, 'webhook.attempts': 8, 'fleet.geofences': 1 };
    expect(check(null, found)).toEqual([]);
  });

  it('names the topic that differs from the others, and no variable, where the number is unknown', () => {
    const [found, ...others] = check(null, { 'telemetry.pings': 4, 'fleet.events': 8, 'webhook.attempts': 8 });
    expect(found).toMatchObject({ what: 'telemetry.pings has 4 partitions where other topics have 8' });
    expect(found?.fix).not.toContain('WAYPOST_PARTITIONS');
    expect(others).toEqual([]);
  });
});
