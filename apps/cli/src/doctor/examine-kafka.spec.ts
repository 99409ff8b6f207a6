import { describe, expect, it } from '@jest/globals';
import { allTopics } from '@waypost/contracts';
import type { KafkaClusterReader, KafkaPartition } from './cluster-reader.js';
import { checkPassword, examineCluster } from './examine-kafka.js';
import type { Finding } from './finding.js';

const WISHES = { partitions: 1, replicationFactor: 3 };
const INTERNAL = ['__transaction_state', '__consumer_offsets'];
const BROKER = new Map([
  ['transaction.state.log.replication.factor', '3'],
  ['offsets.topic.replication.factor', '3'],
]);

interface Fake extends Partial<KafkaClusterReader> {
  readonly up?: readonly number[];
  readonly partition?: Partial<KafkaPartition>;
}

/** Three brokers with all topics, each with one partition; which of them are up. */
function clusterOf({ up = [1, 2, 3], partition = {}, ...more }: Fake): KafkaClusterReader {
  const replicas = [1, 2, 3];
  const whole = { leader: 1, replicas, inSync: replicas.filter((id) => up.includes(id)), ...partition };
  const settings = new Map(allTopics.map(({ name, configs }) => [name, new Map(Object.entries(configs))]));
  return {
    state: () =>
      Promise.resolve({
        brokers: up,
        topics: new Map([...INTERNAL, ...settings.keys()].map((name) => [name, [whole]])),
      }),
    brokerSettings: () => Promise.resolve(BROKER),
    topicSettings: (topic) => Promise.resolve(settings.get(topic) ?? null),
    close: () => Promise.resolve(),
    ...more,
  };
}

async function faultsOf(cluster: Fake): Promise<Finding[]> {
  return (await examineCluster(clusterOf(cluster), WISHES)).filter(({ level }) => level !== 'ok');
}

describe('The doctor, at a cluster of three brokers (R-40)', () => {
  it('finds nothing while all are up', async () => {
    expect(await faultsOf({})).toEqual([]);
  });

  it('names the one that is away, by the replicas that it has, and lowers nothing', async () => {
    const [away, ...others] = await faultsOf({ up: [1, 2] });
    expect(away).toMatchObject({ level: 'warning', what: 'down: broker 3' });
    expect(others.map(({ what }) => what)).toEqual(
      allTopics.map(({ name }) => `1 partitions of ${name} have replicas that are not in sync`),
    );
  });

  it('says of partitions without leader that a broker is away, and asks for no permission', async () => {
    const found = await faultsOf({ up: [1, 2], partition: { leader: null, replicas: [3], inSync: [3] } });
    expect(found).toContainEqual({
      level: 'problem',
      about: 'kafka',
      what: '1 partitions of telemetry.pings have no leader',
      fix: expect.stringContaining('A broker is down'),
    });
    expect(JSON.stringify(found)).not.toContain('Grant');
  });

  it.each<[string, Partial<KafkaPartition>, string]>([
    ['no leader', { leader: null }, 'have no leader'],
    ['too few replicas in sync', { inSync: [1] }, '1 of the 2 replicas in sync'],
  ])('finds what keeps transactions and groups from working: %s', async (_, partition, what) => {
    const topicSettings = (): Promise<Map<string, string>> => Promise.resolve(new Map([['min.insync.replicas', '2']]));
    const found = (await faultsOf({ partition, topicSettings })).filter(({ level }) => level === 'problem');
    for (const name of INTERNAL)
      expect(found.filter((one) => one.what.includes(name))).toEqual([
        expect.objectContaining({ what: expect.stringContaining(what) }),
      ]);
  });

  it('goes by the partition with the fewest replicas in sync', async () => {
    const whole = { leader: 1, replicas: [1, 2, 3], inSync: [1, 2, 3] };
    const partitions = [whole, { ...whole, inSync: [1] }, whole];
    const state = () => Promise.resolve({ brokers: [1, 2, 3], topics: new Map([['__consumer_offsets', partitions]]) });
    const topicSettings = () => Promise.resolve(new Map([['min.insync.replicas', '2']]));
    expect(await faultsOf({ state, topicSettings })).toMatchObject([
      { level: 'problem', what: expect.stringContaining('has 1 of the 2 replicas in sync') },
    ]);
  });

  it('wants requests to be as large as the largest record of any topic', async () => {
    const largest = Math.max(...allTopics.map(({ configs }) => Number(configs['max.message.bytes'] ?? 0)));
    const settings = (bytes: number) => () =>
      Promise.resolve(new Map([...BROKER, ['socket.request.max.bytes', String(bytes)]]));
    expect(await faultsOf({ brokerSettings: settings(largest) })).toEqual([]);
    expect(await faultsOf({ brokerSettings: settings(largest - 1) })).toMatchObject([
      { level: 'problem', fix: expect.stringContaining(`${String(largest)} or more`) },
    ]);
  });

  it('asks each broker for its settings, and names the one that does not answer', async () => {
    const brokerSettings = (id: number) => {
      if (id === 2) return Promise.resolve(new Map([...BROKER, ['log.cleaner.enable', 'false']]));
      return id === 3 ? Promise.reject(new Error('connect ECONNREFUSED')) : Promise.resolve(BROKER);
    };
    const found = await faultsOf({ brokerSettings });
    expect(found).toMatchObject([
      {
        level: 'problem',
        what: 'broker 3: connect ECONNREFUSED',
        fix: expect.stringContaining('Check the brokers'),
      },
      { level: 'problem', what: 'log.cleaner.enable=false' },
    ]);
  });

  it('asks for a permission where the login may not read them', async () => {
    const found = await faultsOf({ brokerSettings: () => Promise.resolve(null) });
    expect(found).toMatchObject([{ level: 'warning', fix: 'Grant this login DescribeConfigs on the cluster.' }]);
  });
});

describe('The doctor, of a password for the brokers (R-40)', () => {
  const sasl = { username: 'ann', password: 'secret' } as const;

  it('warns where it crosses the network as it is', () => {
    const [found] = checkPassword({ brokers: [], clientId: '', sasl: { ...sasl, mechanism: 'plain' } });
    expect(found).toMatchObject({ level: 'warning', fix: expect.stringContaining('KAFKA_TLS=true') });
    expect(JSON.stringify(found)).not.toContain('secret');
  });

  it('says nothing with TLS, or with a mechanism that does not send it', () => {
    const settings = { brokers: [], clientId: '' };
    expect(checkPassword({ ...settings, ssl: true, sasl: { ...sasl, mechanism: 'plain' } })).toEqual([]);
    expect(checkPassword({ ...settings, sasl: { ...sasl, mechanism: 'scram-sha-512' } })).toEqual([]);
    expect(checkPassword(settings)).toEqual([]);
  });
});
