import { connectKafka } from '@waypost/streams/admin';
import { runOnStack } from '../shared/run-benchmark.js';
import { parseBenchFlags } from './bench-flags.js';
import { measureAll } from './measure-all.js';
import { jsonLine } from './report/figures.js';
import { writeDocs } from './report/tables.js';
import { PeerPrograms, preparePeer } from './sides/peer-program.js';
import { createBenchGroups } from './stack/bench-groups.js';
import { createBenchTopics } from './stack/bench-topics.js';

await runOnStack(parseBenchFlags(process.argv.slice(2)), async (run) => {
  const { flags, env, environment, reporter, signal, stack, now } = run;
  const peer = await preparePeer(env, reporter);
  const admin = connectKafka(stack.kafka).admin();
  await admin.connect();
  try {
    const topics = createBenchTopics(stack, admin);
    // A run that was cut off may have deleted some to create them again.
    await topics.setUp();
    let number = now();
    const results = await measureAll({
      ...run,
      java: peer.java,
      topics,
      admin,
      groups: createBenchGroups(admin),
      programs: new PeerPrograms(peer, stack, environment, signal),
      nextNumber: () => (number += 1),
    });
    if (flags.writeDocs) await writeDocs(results);
    return jsonLine(results);
  } finally {
    await admin.disconnect();
  }
});
