/**
 * Joins two streams. `orders` and `payments` have an order's id as key and as many partitions; `paid` gets the order when
 * its payment comes within an hour. Time is that of the records, so a backlog makes the same matches.
 */
import { createTopology, jsonSerde, keyValueStore } from '@waypost/streams';
import { connect, prefix, run } from './run.mjs';

const sources = [`${prefix}orders`, `${prefix}payments`];
const [orders] = sources;
const serde = jsonSerde();
const changelogTopic = `${prefix}paid.unpaid`;

const paid = createTopology({
  applicationId: `${prefix}paid`,
  source: sources,
  stores: { unpaid: keyValueStore({ changelogTopic, serde, timeToLiveMs: 3_600_000 }) },
  sinks: { paid: { topic: `${prefix}paid`, partitioner: 'source-partition' } },
  processor: (context) => {
    const unpaid = context.store('unpaid');
    return {
      process: ({ key, value }) => {
        const id = String(key);
        if (context.topic === orders) {
          unpaid.put(id, String(value));
          return;
        }
        const order = unpaid.get(id);
        if (order === undefined) return;
        unpaid.delete(id);
        context.forward('paid', { key, value: Buffer.from(order) });
      },
    };
  },
});

await run([paid], connect(), { inputs: sources });
