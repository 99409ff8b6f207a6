import { describe, expect, it } from '@jest/globals';
import { checkCluster } from './broker-checks.js';
import type { Finding } from './finding.js';

function cluster(settings: Readonly<Record<string, string>>): Finding[] {
  const facts = { brokers: 3, settings: new Map(Object.entries(settings)) };
  const found = checkCluster(facts, { replicationFactor: 3, maxMessageBytes: 1_048_576 });
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

  it('finds nothing in current ones', () => {
    expect(cluster({ 'inter.broker.protocol.version': '3.9-IV0', 'transaction.state.log.min.isr': '2' })).toEqual([]);
  });
});
