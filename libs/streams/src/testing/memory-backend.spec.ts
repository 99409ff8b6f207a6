import { type BackendUnderTest, describeBackend, describeFencedWriter } from '../backend/backend.contract.js';
import { describeRebalance } from '../backend/rebalance.contract.js';
import { createMemoryBackend } from './memory-backend.js';

const partitionsByTopic: Record<string, number> = {};
let counter = 0;
const names = Array.from({ length: 200 }, (_, i) => `topic-${String(i)}`);
for (const [i, name] of names.entries()) partitionsByTopic[name] = (i % 6) + 1;
const backend = createMemoryBackend({ topics: partitionsByTopic, now: Date.now });
const unused = [...names];

function subject(): BackendUnderTest {
  return {
    backend,
    createTopic: (partitions) => {
      const index = unused.findIndex((name) => partitionsByTopic[name] === partitions);
      return Promise.resolve(unused.splice(index, 1)[0] as string);
    },
    append: (partition, key, value) => {
      backend.append(partition, { key: Buffer.from(key), value: value === null ? null : Buffer.from(value) });
      return Promise.resolve();
    },
    uniqueName: (prefix) => `${prefix}-${String(counter++)}`,
  };
}

describeBackend('memory backend', subject);
describeFencedWriter('memory backend', subject);
describeRebalance('memory backend', subject);
