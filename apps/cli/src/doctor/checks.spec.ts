import { describe, expect, it } from '@jest/globals';
import { checkCluster } from './broker-checks.js';
import type { Finding } from './finding.js';
import { checkTopics, type FoundTopic } from './topic-checks.js';

const LIMITS = { 'max.message.bytes': '1048576', 'retention.ms': '1382400000' };
const WANTED = [{ name: 'telemetry.pings', partitions: 4, configs: { 'cleanup.policy': 'delete', ...LIMITS } }];
const GOOD = { 'cleanup.policy': 'delete', ...LIMITS, 'min.insync.replicas': '2' };

function topic(found: Partial<Omit<FoundTopic, 'configs'>>, configs: Readonly<Record<string, string>> = {}): Finding[] {
  const settings = new Map(Object.entries({ ...GOOD, ...configs }));
  const whole = { partitions: 4, replicas: 3, behind: 0, ...found, configs: settings };
  return checkTopics(WANTED, new Map([['telemetry.pings', whole]]), 3).filter(({ level }) => level !== 'ok');
}

function cluster(settings: Readonly<Record<string, string>>): Finding[] {
  const facts = { brokers: 3, settings: new Map(Object.entries(settings)) };
  const found = checkCluster(facts, { replicationFactor: 3, maxMessageBytes: 1_048_576 });
  return found.filter(({ level }) => level !== 'ok');
}

describe('what the doctor says of topics that are there (R-40)', () => {
  it('finds nothing in three replicas of which two acknowledge', () => {
    expect(topic({})).toEqual([]);
  });

  it.each([
    ['brokers before 3.7 would write nothing', 'warning', { replicas: 1 }, {}, 'min.insync.replicas=1'],
    ['no broker may be away', 'warning', {}, { 'min.insync.replicas': '3' }, 'min.insync.replicas=2'],
    ['a replica has fallen behind', 'warning', { behind: 2 }, {}, 'under-replicated'],
    ['records may be smaller than ours', 'problem', {}, { 'max.message.bytes': '1000' }, 'max.message.bytes=1048576'],
    ['records go too soon', 'problem', {}, { 'retention.ms': '604800000' }, 'retention.ms=1382400000'],
    ['it is compacted where it must not be', 'problem', {}, { 'cleanup.policy': 'compact' }, 'cleanup.policy=delete'],
  ] as const)('says what to do when %s', (_, level, found, configs, fix) => {
    const worst = topic(found, configs).find((finding) => finding.fix?.includes(fix));
    expect(worst?.level).toBe(level);
    expect(worst?.what).toContain('telemetry.pings');
  });

  it.each([
    ['keeps versions by time', 'problem', { 'min.compaction.lag.ms': '1382400000' }],
    ['keeps the newest record of a key', 'warning', {}],
  ])('names the stamps of writers in a compacted topic that %s: a %s', (_, level, more) => {
    const configs = { 'cleanup.policy': 'compact', 'message.timestamp.type': 'LogAppendTime', ...more };
    const found = { partitions: 1, replicas: 3, behind: 0 };
    const stamped = new Map(Object.entries({ ...configs, 'message.timestamp.type': 'CreateTime' }));
    const wanted = [{ name: 'compacted', partitions: 1, configs }];
    expect(checkTopics(wanted, new Map([['compacted', { ...found, configs: stamped }]]), 3)[0]).toMatchObject({
      level,
      fix: expect.stringContaining('--entity-name compacted --add-config message.timestamp.type=LogAppendTime'),
    });
  });

  it('warns of fewer replicas than are wanted, which no set-up changes', () => {
    const [finding] = topic({ replicas: 2 }, { 'min.insync.replicas': '1' });
    expect(finding).toMatchObject({ level: 'warning', fix: expect.stringContaining('kafka-reassign-partitions') });
  });
});

describe('what the doctor says of brokers (R-40)', () => {
  it.each([
    [
      'of before 3.7 whose transactions need more replicas than there can be',
      { 'transaction.state.log.min.isr': '4', 'inter.broker.protocol.version': '3.6-IV2' },
      'to 3 in',
    ],
    ['whose log of transactions needs more', { 'transaction.state.log.replication.factor': '4' }, 'to 3 in'],
    ['whose log of offsets needs more', { 'offsets.topic.replication.factor': '4' }, 'to 3 in'],
    ['that are too old', { 'inter.broker.protocol.version': '2.3-IV1' }, 'Upgrade the brokers to 2.4'],
    ['whose cleaner is off', { 'log.cleaner.enable': 'false' }, 'to true'],
    ['that refuse our transactions', { 'transaction.max.timeout.ms': '1000' }, '60000 or more'],
    ['that take smaller requests', { 'socket.request.max.bytes': '1000' }, '1048576 or more'],
  ])('says what to do about brokers %s', (_, settings, fix) => {
    expect(cluster(settings)).toEqual([
      expect.objectContaining({ level: 'problem', fix: expect.stringContaining(fix) }),
    ]);
  });

  it('only warns current ones of more replicas in sync than there can be: they go by those that there are', () => {
    expect(cluster({ 'transaction.state.log.min.isr': '4' })).toEqual([
      expect.objectContaining({ level: 'warning', fix: expect.stringContaining('before 3.7') }),
    ]);
  });

  it('finds nothing in current ones', () => {
    expect(cluster({ 'inter.broker.protocol.version': '3.9-IV0', 'transaction.state.log.min.isr': '2' })).toEqual([]);
  });
});
