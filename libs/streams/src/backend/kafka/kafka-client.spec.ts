import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import { fetchRequest } from '../../protocol/fetch.js';
import { KafkaClient } from './kafka-client.js';
import { type FakeCluster, type FakeRequest, startFakeCluster } from './testing/fake-broker.js';

let cluster: FakeCluster;
let client: KafkaClient;
let leader: number;
/** The error codes of topics. */
let answers: Map<string, number>;
/** Of coordinators. */
let lookUps: number;

beforeEach(async () => {
  leader = 1;
  answers = new Map();
  lookUps = 0;
  const answer = ({ api, key }: FakeRequest): number => {
    if (api === 'FindCoordinator') lookUps += 1;
    return answers.get(key) ?? 0;
  };
  cluster = await startFakeCluster({ answer, nodes: 3, leader: () => leader, batch: Buffer.alloc(1) });
  client = new KafkaClient({ brokers: cluster.brokers, clientId: 'client' }, silentLogger);
  await client.leader('topic', 0);
});

afterEach(async () => {
  await client.close();
  await cluster.close();
});

describe('a client of a cluster whose partitions move', () => {
  it('keeps two connections to each broker that it has asked, one of them for fetches, and no more', async () => {
    const limits = { maxWaitMs: 1, maxBytes: 1_000, maxBytesPerPartition: 1_000 };
    for (let move = 0; move < 12; move += 1) {
      leader = 1 + (move % 3);
      await client.refreshMetadata();
      const broker = await client.leader('topic', 0);
      await client.callRaw(broker, fetchRequest([{ topic: 'topic', partition: 0, offset: 0 }], limits));
    }
    expect(cluster.openConnections()).toBe(6);
  });
});

describe('a client of which one topic', () => {
  it.each([
    ['is deleted', 3, 'TOPIC_MISSING'],
    ['may not be described any more', 29, 'ACCESS_DENIED'],
  ])('%s still follows the others, and says so of that one until it is back', async (_what, code, error) => {
    await client.leader('lost', 0);
    answers.set('lost', code);
    leader = 2;
    await client.refreshMetadata();
    expect((await client.leader('topic', 0)).nodeId).toBe(2);
    expect((await client.leader('new', 0)).nodeId).toBe(2);
    await expect(client.leader('lost', 0)).rejects.toMatchObject({ code: error });

    answers.clear();
    expect((await client.leader('lost', 0)).nodeId).toBe(2);
  });
});

describe('the coordinator of a group', () => {
  type Ask = Parameters<KafkaClient['atCoordinator']>[2];
  const ask = (work: Ask = () => Promise.resolve(undefined)): Promise<unknown> =>
    client.atCoordinator('group', 'group', work).catch((error: unknown) => error);
  const failWith = (name: string, code?: number): Ask => {
    const failure = Object.assign(new Error(name), { name, code });
    return () => Promise.reject(failure);
  };
  /** A fetch that the broker takes longer to answer than this client waits. */
  const hang: Ask = (broker) => {
    const limits = { maxWaitMs: 1, maxBytes: 1_000, maxBytesPerPartition: 1_000 };
    return client.callRaw(broker, fetchRequest([{ topic: 'topic', partition: 0, offset: 1 }], limits), 1);
  };

  it("is looked up once, and the error of a request is the caller's", async () => {
    const refused = Object.assign(new Error('A rebalance is in progress'), { code: 27 });
    const answers = [await ask(), await ask(() => Promise.reject(refused)), await ask()];
    expect(answers).toEqual([undefined, refused, undefined]);
    expect(lookUps).toBe(1);
  });

  it.each([
    ['is another one by now', failWith('Not the coordinator', 16)],
    ['closes the connection', failWith('KafkaJSConnectionError')],
    ['hangs', hang],
  ])('is looked up again when it %s', async (_what, failure) => {
    await ask();
    expect(await ask(failure)).toBeInstanceOf(Error);
    await ask();
    expect(lookUps).toBe(2);
  });
});

describe('a client whose login is refused', () => {
  it('fails with what to check', async () => {
    const sasl = { mechanism: 'plain', username: 'user', password: 'password' } as const;
    const stranger = new KafkaClient({ brokers: cluster.brokers, clientId: 'stranger', sasl }, silentLogger);
    await expect(stranger.leader('topic', 0)).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      message: expect.stringMatching(/^The login was refused: .*Check mechanism, name and password of the login/),
    });
    await stranger.close();
  });
});

describe('a client that is closed', () => {
  it('has no connection left', async () => {
    expect(cluster.openConnections()).toBeGreaterThan(0);
    await client.close();
    await until(() => cluster.openConnections() === 0);
  });

  it('has none after the brokers hung up and it was connecting again', async () => {
    for (let round = 0; round < 2; round += 1) {
      const late = new KafkaClient({ brokers: cluster.brokers, clientId: 'late' }, silentLogger);
      await late.leader('topic', 0);
      cluster.hangUp();
      await until(() => late.connectedLeader('topic', 0) === null);
      const refreshed = late.refreshMetadata().catch(() => undefined);
      await late.close();
      await refreshed;
    }

    await client.close();
    await until(() => cluster.openConnections() === 0);
  });
});
