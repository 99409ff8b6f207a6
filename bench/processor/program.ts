import { join } from 'node:path';
import { projectRoot, type StackReporter } from '../../tools/dev-stack/index.js';
import { connectKafka } from '@waypost/streams';
import type { BenchContext } from './bench-context.js';
import type { BenchFlags } from './bench-flags.js';
import { machineFacts } from './machine-facts.js';
import { measureAll } from './measure-all.js';
import { jsonLine } from './report/json-line.js';
import { writeDocs } from './report/write-docs.js';
import { preparePeer } from './sides/peer.js';
import { PeerPrograms } from './sides/peer-program.js';
import { createBenchGroups } from './stack/bench-groups.js';
import { openBenchStack, type BenchStack } from './stack/bench-stack.js';
import { createBenchTopics } from './stack/bench-topics.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface BenchOptions {
  readonly flags: BenchFlags;
  readonly env: Environment;
  readonly reporter: StackReporter;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** Further settings of a developer must not change what is measured. */
const PASSED_ON = ['PATH', 'HOME', 'JAVA_HOME', 'TMPDIR', 'LANG', 'TZ'];

/** Runs the benchmark. @returns the JSON line with its result */
export async function runBench(options: BenchOptions): Promise<string> {
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
    return jsonLine(results);
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

function passedOn(env: Environment): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
