import { describe, expect, it } from '@jest/globals';
import { ok, problem } from './finding.js';
import { tryTopic } from './try-cluster.js';

const FAILS = problem('kafka', 'a transaction fails: timeout', 'Look at the logs.');

type Admin = Parameters<typeof tryTopic>[0];

function adminWith(more: Partial<Admin>): Admin {
  return {
    describeCluster: () =>
      Promise.resolve({ brokers: [{ nodeId: 1, host: '', port: 1 }], controller: 1, clusterId: '' }),
    createTopics: () => Promise.resolve(true),
    deleteTopics: () => Promise.resolve(),
    fetchTopicMetadata: () => Promise.resolve({ topics: [] }),
    ...more,
  };
}

describe('What the doctor says of its test topic (R-40)', () => {
  it('is what was found with it, and beside that that it cannot be deleted', async () => {
    const admin = adminWith({ deleteTopics: () => Promise.reject(new Error('Not authorized')) });
    expect(await tryTopic(admin, 'waypost-doctor-1', 1, () => Promise.resolve([FAILS]))).toMatchObject([
      FAILS,
      {
        level: 'warning',
        what: 'the test topic waypost-doctor-1 cannot be deleted: Not authorized',
        fix: expect.stringContaining('kafka-topics --delete --topic waypost-doctor-1'),
      },
    ]);
  });

  it('is that it cannot be created, and nothing else then', async () => {
    const refuse = () => Promise.reject(new Error('Not authorized'));
    const admin = adminWith({ createTopics: refuse, deleteTopics: refuse });
    expect(await tryTopic(admin, 'waypost-doctor-1', 1, () => Promise.resolve([]))).toMatchObject([
      { level: 'problem', what: 'a test topic cannot be created: Not authorized' },
    ]);
  });

  it('is nothing of a topic that is gone again', async () => {
    const deleted: string[] = [];
    const admin = adminWith({ deleteTopics: ({ topics }) => Promise.resolve(void deleted.push(...topics)) });
    const found = [ok('kafka', 'a transaction to all brokers was committed')];
    expect(await tryTopic(admin, 'waypost-doctor-1', 1, () => Promise.resolve(found))).toEqual(found);
    expect(deleted).toEqual(['waypost-doctor-1']);
  });
});
