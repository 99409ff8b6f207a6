import { describe, expect, it } from '@jest/globals';
import { checkCluster, type ClusterFacts } from './broker-checks.js';
import type { Finding } from './finding.js';

type Settings = Readonly<Record<string, string>>;

const WISHES = { replicationFactor: 3, maxMessageBytes: 1_048_576 };

/** Three brokers with the same settings. */
function cluster(settings: Settings): Finding[] {
  return check({ 1: settings, 2: settings, 3: settings });
}

function check(up: Readonly<Record<number, Settings>>, rest: Partial<ClusterFacts> = {}): Finding[] {
  const brokers = new Map(Object.entries(up).map(([id, settings]) => [Number(id), new Map(Object.entries(settings))]));
  const found = checkCluster({ brokers, away: [], knowsAway: true, internalTopics: [], ...rest }, WISHES);
  return found.filter(({ level }) => level !== 'ok');
}

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

  it('finds nothing in ones that allow exactly what is needed', () => {
    const exact = {
      'socket.request.max.bytes': '1048576',
      'transaction.max.timeout.ms': '60000',
      'group.min.session.timeout.ms': '7000',
      'group.max.session.timeout.ms': '7000',
      'offsets.retention.minutes': '10080',
      'transaction.state.log.min.isr': '3',
    };
    expect(cluster(exact)).toEqual([]);
  });

  it('finds nothing in current ones', () => {
    expect(cluster({ 'inter.broker.protocol.version': '3.9-IV0', 'transaction.state.log.min.isr': '2' })).toEqual([]);
  });
});

describe('what the doctor says while one of three brokers is away (R-40)', () => {
  const usual = {
    'transaction.state.log.replication.factor': '3',
    'offsets.topic.replication.factor': '3',
    'transaction.state.log.min.isr': '2',
  };
  const up = { 1: usual, 2: usual };

  it('is to start it again, and to change nothing where Kafka has its own topics', () => {
    const internalTopics = ['__transaction_state', '__consumer_offsets'];
    expect(check(up, { away: [3], internalTopics })).toEqual([
      {
        level: 'warning',
        about: 'kafka',
        what: 'down: broker 3',
        fix: expect.stringContaining('Start broker 3 again'),
      },
    ]);
  });

  it('is to start it before those topics are made, which three brokers are needed for', () => {
    const [, transactions, offsets, ...others] = check(up, { away: [3] });
    expect([transactions?.what, offsets?.what]).toEqual([
      'transaction.state.log.replication.factor=3 with 2 of 3 brokers',
      'offsets.topic.replication.factor=3 with 2 of 3 brokers',
    ]);
    for (const finding of [transactions, offsets])
      expect(finding).toMatchObject({
        level: 'problem',
        fix: expect.stringMatching(/^Start broker 3 again: until then/),
      });
    expect(others).toEqual([]);
  });

  it('is to start it where no transaction can be committed without it', () => {
    const strict = { ...usual, 'transaction.state.log.min.isr': '3' };
    const internalTopics = ['__transaction_state', '__consumer_offsets'];
    expect(check({ 1: strict, 2: strict }, { away: [3], internalTopics })).toContainEqual({
      level: 'problem',
      about: 'kafka',
      what: 'transaction.state.log.min.isr=3 with 2 of 3 brokers',
      fix: 'Start broker 3 again: until then no transaction can be committed.',
    });
  });
});

describe('what the doctor says of two brokers before the first set-up, when a third may be away (R-40)', () => {
  it('is to start that before anything is lowered', () => {
    const usual = {
      'transaction.state.log.replication.factor': '3',
      'offsets.topic.replication.factor': '3',
      'transaction.state.log.min.isr': '3',
    };
    const findings = check({ 1: usual, 2: usual }, { knowsAway: false });
    const start = 'If a broker is down, start it first; otherwise set';
    expect(findings.map(({ fix }) => fix?.slice(0, start.length))).toEqual([start, start, start, start]);
    expect(findings[0]?.what).toBe('2 brokers, WAYPOST_REPLICATION_FACTOR is 3');
  });
});

describe('what the doctor says of brokers that differ (R-40)', () => {
  it('names those whose setting is wrong', () => {
    const findings = check({ 1: {}, 2: { 'log.cleaner.enable': 'true' }, 3: { 'log.cleaner.enable': 'false' } });
    expect(findings).toMatchObject([{ level: 'problem', what: 'log.cleaner.enable=false on broker 3' }]);
  });
});
