/**
 * Turns clicks into sessions. `clicks` has a user as key; `sessions` gets a record when a user has not clicked for 30 s,
 * with the first and last click and their number. Time is that of the records: a backlog makes the same sessions, and the
 * last ones end with the next click of anyone in the partition.
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

    let lookedAtMs = null;
    return {
      process: ({ key, timestamp }) => {
        const user = String(key);
        let session = open.get(user);
        if (session && timestamp - session.lastClickAt > GAP_MS) {
          close(user, session);
          session = undefined;
        }
        // Clicks may come late.
        const firstClickAt = Math.min(session?.firstClickAt ?? timestamp, timestamp);
        const lastClickAt = Math.max(session?.lastClickAt ?? timestamp, timestamp);
        open.put(user, { firstClickAt, lastClickAt, clicks: (session?.clicks ?? 0) + 1 });
      },
      punctuate: ({ streamTimeMs }) => {
        // Called several times a second: all sessions are looked at only when time has gone on.
        if (streamTimeMs === lookedAtMs) return;
        lookedAtMs = streamTimeMs;
        for (const [user, session] of open.entries())
          if (streamTimeMs - session.lastClickAt > GAP_MS) close(user, session);
      },
    };
  },
});

await run([sessions], connect(), { inputs: [`${prefix}clicks`] });
