import { describe, expect, it } from '@jest/globals';
import { allTopics, type KafkaUser } from '@waypost/contracts';
import type { KafkaClusterReader, KafkaPartition } from './cluster-reader.js';
import { checkPassword, examineCluster } from './examine-kafka.js';
import type { Finding } from './finding.js';
import { scopeOf, wishesOf } from './kafka-scope.js';

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
  return (await examineCluster(clusterOf(cluster), scopeOf(WISHES))).filter(({ level }) => level !== 'ok');
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

  it('lowers nothing while no topic shows whether a broker is away', async () => {
    const found = await faultsOf({ up: [1, 2], state: () => Promise.resolve({ brokers: [1, 2], topics: new Map() }) });
    expect(found).toHaveLength(3);
    for (const { fix } of found) expect(fix).toMatch(/^If a broker is down, start it first; otherwise /);
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

  it('asks the brokers that respond for the settings of topics, and finds what is wrong beside the one that does not', async () => {
    const silence = new Error('No response from a broker within 15000 ms.');
    const brokerSettings = (id: number) => (id === 1 ? Promise.reject(silence) : Promise.resolve(BROKER));
    const topicSettings = (_: string, via?: number) =>
      via === 2 ? Promise.resolve(new Map([['min.insync.replicas', '4']])) : Promise.reject(silence);
    const [first, ...others] = (await faultsOf({ brokerSettings, topicSettings })).map(({ what }) => what);
    expect(first).toBe('broker 1: No response from a broker within 15000 ms.');
    expect(others).toEqual(
      allTopics.map(({ name }) => `${name} has min.insync.replicas=4 and 3 replicas: applications do not start`),
    );
  });

  it('names each topic whose settings could not be read, and examines the others', async () => {
    const topicSettings = (topic: string) =>
      topic === 'telemetry.pings' ? Promise.reject(new Error('too slow')) : Promise.resolve(new Map<string, string>());
    expect(await faultsOf({ topicSettings })).toMatchObject([
      { level: 'problem', what: 'settings of telemetry.pings: too slow' },
    ]);
  });

  it('asks no broker for the settings of topics when none responds', async () => {
    const silent = () => Promise.reject(new Error('silent'));
    const found = await faultsOf({ brokerSettings: silent, topicSettings: silent });
    expect(found.map(({ what }) => what)).toEqual(['broker 1: silent', 'broker 2: silent', 'broker 3: silent']);
  });

  it('asks for a permission where the login may not read them', async () => {
    const found = await faultsOf({ brokerSettings: () => Promise.resolve(null) });
    expect(found).toMatchObject([{ level: 'warning', fix: 'Grant this login DescribeConfigs on the cluster.' }]);
  });
});

describe('The doctor, with the login of one application (R-40)', () => {
  const UNKNOWN = { partitions: null, replicationFactor: null };
  const lone = { leader: 1, replicas: [1], inSync: [1] };

  /** @param found partitions of the topics that the login sees */
  function examine(user: KafkaUser, found: Readonly<Record<string, number>>): Promise<Finding[]> {
    const topics = new Map(
      Object.entries(found).map(([name, count]) => [name, Array.from({ length: count }, () => lone)]),
    );
    const closed = () => Promise.resolve(null);
    const cluster = clusterOf({
      state: () => Promise.resolve({ brokers: [1], topics }),
      brokerSettings: closed,
      topicSettings: closed,
    });
    return examineCluster(cluster, scopeOf(UNKNOWN, user));
  }

  const whatOf = (findings: readonly Finding[]) => findings.map(({ level, what }) => `${level} ${what}`);

  it('wants neither a number of partitions nor replicas, nor rights that it is not granted', async () => {
    const found = { 'webhook.attempts': 8, 'webhook.deliveries': 8, 'telemetry.pings': 8, 'telemetry.rejected': 8 };
    expect(whatOf(await examine('history-projector', found))).toEqual([
      'ok 1 brokers',
      'ok 4 of 4 topics that history-projector uses exist and are visible to this login',
    ]);
  });

  it('asks for the right to read settings where it is listed', async () => {
    const found = { 'telemetry.pings': 8, 'fleet.events': 8 };
    expect(whatOf(await examine('telemetry-processor', found))).toEqual([
      'ok 1 brokers',
      'ok 2 of 6 topics that telemetry-processor uses exist and are visible to this login',
      'warning the settings of fleet.events cannot be read',
    ]);
  });

  it('looks at no topic that the application does not use', async () => {
    const found = { 'webhook.attempts': 8, 'fleet.events': 4 };
    expect((await examine('history-projector', found)).filter(({ level }) => level !== 'ok')).toEqual([]);
  });

  it('goes by the variables of set-up that are set all the same, and by their defaults for set-up only', () => {
    expect(wishesOf({}, 'public-api')).toEqual(UNKNOWN);
    expect(wishesOf({ WAYPOST_PARTITIONS: '8' }, 'public-api')).toEqual({ partitions: 8, replicationFactor: null });
    expect(wishesOf({ WAYPOST_REPLICATION_FACTOR: '3' }, 'public-api')).toEqual({
      partitions: null,
      replicationFactor: 3,
    });
    expect(wishesOf({}, 'set-up')).toEqual({ partitions: 4, replicationFactor: 1 });
    expect(wishesOf({})).toEqual({ partitions: 4, replicationFactor: 1 });
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
