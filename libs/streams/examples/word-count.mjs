/**
 * Counts words. `sentences` has sentences as values; `counts` gets a record per word, with the word as its key and how
 * often it has come so far. Sentences are split first, and the words written by key: all of one word are then in one
 * partition, and so in one task, whose store counts them.
 */
import { createTopology, jsonSerde, keyValueStore } from '@waypost/streams';
import { connect, prefix, run } from './run.mjs';

const splitter = createTopology({
  applicationId: `${prefix}word-splitter`,
  source: `${prefix}sentences`,
  sinks: { words: { topic: `${prefix}words`, partitioner: 'key' } },
  processor: (context) => ({
    process: ({ value }) => {
      for (const word of String(value)
        .toLowerCase()
        .match(/\p{L}+/gu) ?? [])
        context.forward('words', { key: Buffer.from(word), value: null });
    },
  }),
});

const counter = createTopology({
  applicationId: `${prefix}word-counter`,
  source: `${prefix}words`,
  stores: { counts: keyValueStore({ changelogTopic: `${prefix}word-counter.counts`, serde: jsonSerde() }) },
  sinks: { counts: { topic: `${prefix}counts`, partitioner: 'source-partition' } },
  processor: (context) => {
    const counts = context.store('counts');
    return {
      process: ({ key }) => {
        const count = (counts.get(String(key)) ?? 0) + 1;
        counts.put(String(key), count);
        context.forward('counts', { key, value: Buffer.from(String(count)) });
      },
    };
  },
});

await run([splitter, counter], connect(), { inputs: [`${prefix}sentences`] });
