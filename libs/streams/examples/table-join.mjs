/**
 * Joins orders with a table of customers. `customers` is compacted and read in full by every instance; `orders` has a
 * customer as key; `deliveries` gets each order with the customer's address as a header.
 */
import { createGlobalTable, createTopology } from '@waypost/streams';
import { connect, prefix, run } from './run.mjs';

const settings = connect();
const addresses = new Map();
const customers = createGlobalTable({
  ...settings,
  topic: `${prefix}customers`,
  onRecord: (key, value) => {
    if (value) addresses.set(String(key), Buffer.from(value));
    else addresses.delete(String(key));
  },
});

const deliveries = createTopology({
  applicationId: `${prefix}deliveries`,
  source: `${prefix}orders`,
  sinks: {
    deliveries: { topic: `${prefix}deliveries`, partitioner: 'source-partition' },
    strangers: { topic: `${prefix}strangers`, partitioner: 'source-partition' },
  },
  processor: (context) => ({
    processSlice: async ({ isFirst, forEach }) => {
      // A customer that was written before an order is known when the order is processed.
      if (isFirst) await customers.caughtUp();
      forEach(({ key, value }) => {
        const address = addresses.get(String(key));
        if (address) context.forward('deliveries', { key, value, headers: [{ key: 'address', value: address }] });
        else context.forward('strangers', { key, value });
      });
    },
  }),
});

await run([deliveries], settings, {
  inputs: [`${prefix}orders`],
  tables: [`${prefix}customers`],
  globalTables: [customers],
});
