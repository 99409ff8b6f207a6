import { join } from 'node:path';
import { connectKafka } from '@waypost/streams';
import { projectRoot } from '../../tools/dev-stack/index.js';
import { passedOn } from '../shared/bench-config.js';
import type { BenchOutcome, BenchRun } from '../shared/run-benchmark.js';
import type { BenchContext } from './bench-context.js';
import type { BenchFlags } from './bench-flags.js';
import { machineFacts } from './machine-facts.js';
import { measureAll } from './measure-all.js';
import { jsonLine } from './report/figures.js';
import { writeDocs } from './report/write-docs.js';
import { PeerPrograms, preparePeer } from './sides/peer-program.js';
import { createBenchGroups } from './stack/bench-groups.js';
import { type BenchStack, openBenchStack } from './stack/bench-stack.js';
import { createBenchTopics } from './stack/bench-topics.js';

type BenchOptions = BenchRun<BenchFlags>;

export async function runBench(options: BenchOptions): Promise<BenchOutcome> {
  const { flags, env, reporter, signal } = options;
  const peer = await preparePeer(env, reporter);
  const stack = await openBenchStack({ folder: flags.dataDir, env, reporter, signal, keep: flags.keep });
  const admin = connectKafka(stack.kafka).admin();
  try {
    await admin.connect();
    const environment = passedOn(env);
    const programs = new PeerPrograms(peer, stack, environment, signal);
    const topics = createBenchTopics(stack, admin);
    const groups = createBenchGroups(admin);
    const context = { ...shared(options, stack), topics, groups, admin, programs, environment } satisfies BenchContext;
    await topics.setUp();
    const results = { machine: await machineFacts(peer.java), ...(await measureAll(context, flags)) };
    if (flags.writeDocs) await writeDocs(results);
    return { line: jsonLine(results) };
  } finally {
    await admin.disconnect();
    await stack.stop();
  }
}

function shared({ flags, reporter, signal, now }: BenchOptions, stack: BenchStack) {
  const dist = flags.dist ?? join(projectRoot(), 'dist');
  let number = now();
  return {
    ...{ stack, reporter, signal, now },
    program: join(dist, 'apps', 'telemetry-processor', 'src', 'main.js'),
    nodeFlags: flags.nodeFlags,
    nextNumber: () => (number += 1),
  };
}
