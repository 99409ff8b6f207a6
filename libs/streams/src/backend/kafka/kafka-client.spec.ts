import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import { fetchRequest } from '../../protocol/fetch.js';
import { KafkaClient } from './kafka-client.js';
import { type FakeCluster, startFakeCluster } from './testing/fake-broker.js';

let cluster: FakeCluster;
let client: KafkaClient;
let leader: number;

beforeEach(async () => {
  leader = 1;
  cluster = await startFakeCluster({ answer: () => 0, nodes: 3, leader: () => leader, batch: Buffer.alloc(1) });
  client = new KafkaClient({ brokers: cluster.brokers, clientId: 'client' }, silentLogger);
  await client.leader('topic', 0);
});

afterEach(async () => {
  await client.close();
  await cluster.close();
});

describe('a client of a cluster whose partitions move', () => {
  it('keeps two connections to each broker that it has asked, one of them for fetches, and no more', async () => {
    const limits = { maxWaitMs: 1, minBytes: 1, maxBytes: 1_000, maxBytesPerPartition: 1_000 };
    for (let move = 0; move < 12; move += 1) {
      leader = 1 + (move % 3);
      await client.refreshMetadata();
      const broker = await client.leader('topic', 0);
      await client.callRaw(broker, fetchRequest([{ topic: 'topic', partition: 0, offset: 0 }], limits));
    }
    expect(cluster.openConnections()).toBe(6);
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
