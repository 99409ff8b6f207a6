/**
 * Turns clicks into sessions. `clicks` has a user as key; `sessions` gets a record when a user has not clicked for 30 s,
 * with the first and last click and their number. Time is that of the records; while none come, the wall clock goes on.
 */
import { createTopology, jsonSerde, keyValueStore } from '@waypost/streams';
import { connect, prefix, run } from './run.mjs';

const GAP_MS = 30_000;

const sessions = createTopology({
  applicationId: `${prefix}sessions`,
  source: `${prefix}clicks`,
  stores: { open: keyValueStore({ changelogTopic: `${prefix}sessions.open`, serde: jsonSerde() }) },
  sinks: { sessions: { topic: `${prefix}sessions`, partitioner: 'source-partition' } },
  processor: (context) => {
    const open = context.store('open');

    function close(user, session) {
      open.delete(user);
      context.forward('sessions', { key: Buffer.from(user), value: Buffer.from(JSON.stringify(session)) });
    }

    return {
      process: ({ key, timestamp }) => {
        const user = String(key);
        let session = open.get(user);
        if (session && timestamp - session.lastClickAt > GAP_MS) {
          close(user, session);
          session = undefined;
        }
        const { firstClickAt = timestamp, clicks = 0 } = session ?? {};
        open.put(user, { firstClickAt, lastClickAt: timestamp, clicks: clicks + 1 });
      },
      punctuate: ({ wallClockMs }) => {
        for (const [user, session] of open.entries())
          if (wallClockMs - session.lastClickAt > GAP_MS) close(user, session);
      },
    };
  },
});

await run([sessions], connect(), { inputs: [`${prefix}clicks`] });
