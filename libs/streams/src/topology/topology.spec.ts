import { describe, expect, it } from '@jest/globals';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createTopology, type Processor, type Topology } from './topology.js';

const idle: Processor = { process: () => undefined };
function storeOn(changelogTopic: string) {
  return keyValueStore({ changelogTopic, serde: jsonSerde<number>() });
}

const parts = {
  applicationId: 'app',
  source: 'input',
  stores: { counts: storeOn('counts') },
  sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
  processor: () => idle,
} satisfies Topology;

describe('a topology', () => {
  it('may write several sinks to one topic', () => {
    const { output } = parts.sinks;
    expect(() => createTopology({ ...parts, sinks: { first: output, second: output } })).not.toThrow();
  });

  it.each<[string, Partial<Topology>, string]>([
    ['no applicationId', { applicationId: '' }, 'needs an applicationId: it names its consumer group'],
    ['no source', { source: '' }, 'The topology app needs a source: the name of the topic to read'],
    ['an empty source', { source: ['input', ''] }, 'The topology app needs a source: the name of the topic to read'],
    ['a source twice', { source: ['input', 'input'] }, 'The topology app has a source twice'],
    ['a sink without topic', { sinks: { output: { topic: '', partitioner: 'key' } } }, 'The sink output of app needs'],
    [
      'a store without changelog',
      { stores: { counts: storeOn('') } },
      'The store counts of app needs a changelogTopic',
    ],
    [
      'a store whose name divides a list',
      { stores: { 'a@b': storeOn('counts') } },
      'The store a@b of app has a comma or @',
    ],
    [
      'two stores on one changelog',
      { stores: { counts: storeOn('counts'), sums: storeOn('counts') } },
      'The topic counts is the changelog of the store sums and used by the store counts of app: give the store a topic of its own',
    ],
    [
      'a changelog that is its source',
      { stores: { counts: storeOn('input') } },
      'The topic input is the changelog of the store counts and used by the source of app',
    ],
    [
      'a changelog that is a sink',
      { stores: { counts: storeOn('output') } },
      'The topic output is the changelog of the store counts and used by the sink output of app',
    ],
  ])('is refused with %s, and the message names the fix', (_what, wrong, fix) => {
    expect(() => createTopology({ ...parts, ...wrong })).toThrow(fix);
  });
});
