import { join } from 'node:path';
import { projectRoot, type StackReporter } from '../../tools/dev-stack/index.js';
import type { BenchFlags } from './bench-flags.js';
import { measureAll } from './measure-all.js';
import { profileReport } from './profile.js';
import { jsonLine } from './report/json-line.js';
import { writeDocs } from './report/write-docs.js';
import { createApplications } from './stack/applications.js';
import { openDeliveryStack } from './stack/delivery-stack.js';
import { subscribersOf } from './stack/subscribers.js';
import { createSystem } from './stack/system.js';
import { startHarness } from './workers/harness.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface BenchOptions {
  readonly flags: BenchFlags;
  readonly env: Environment;
  readonly reporter: StackReporter;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** Further settings of a developer must not change what is measured. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ'];

/** Runs the benchmark. @returns the JSON line with its result */
export async function runBench(options: BenchOptions): Promise<string> {
  const { flags, env, reporter, signal, now } = options;
  const { keep, partitions } = flags;
  const stack = await openDeliveryStack({ folder: flags.dataDir, env, reporter, signal, keep, partitions });
  const stops: (() => void | Promise<void>)[] = [() => stack.stop()];
  try {
    const environment = passedOn(env);
    const dist = flags.dist ?? join(projectRoot(), 'dist');
    const applications = createApplications({ stack, dist, environment, signal });
    const { origins, instances, history } = flags;
    const subscribers = await subscribersOf({ stack, applications, reporter, origins });
    const harness = await startHarness({ stack, environment, ports: subscribers.ports });
    stops.push(() => {
      harness.stop();
    });
    const profileDir = stack.file('profile');
    const nodeFlags = [...flags.nodeFlags, ...(flags.profile ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] : [])];
    const system = createSystem({ stack, applications, instances, history, nodeFlags });
    stops.push(() => system.stop());
    const results = await measureAll({ flags, stack, subscribers, system, harness, reporter, signal, now });
    await system.stop();
    if (flags.profile) reporter.note(await profileReport(profileDir));
    if (flags.writeDocs) await writeDocs(flags, results);
    return jsonLine(results);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function passedOn(env: Environment): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
