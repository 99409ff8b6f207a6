import { join } from 'node:path';
import { choosePort } from '../../tools/dev-stack/free-port.js';
import { projectRoot, type StackReporter } from '../../tools/dev-stack/index.js';
import { profileReport } from '../delivery/profile.js';
import { createApplications, type RunningApp } from '../delivery/stack/applications.js';
import { openDeliveryStack, type DeliveryStack } from '../delivery/stack/delivery-stack.js';
import { startWorker } from '../delivery/workers/worker.js';
import type { BenchFlags } from './bench-flags.js';
import { callersOf } from './measure/callers.js';
import { measureCall, type CallResult } from './measure/measure-call.js';
import { plannedRequests } from './measure/planned-requests.js';
import { callText, jsonLine } from './report/lines.js';
import { writeDocs } from './report/write-docs.js';

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
const UNLIMITED = '1000000';

/** Runs the benchmark. @returns the JSON line with its result */
export async function runBench(options: BenchOptions): Promise<string> {
  const { flags, env, reporter, signal } = options;
  const stack = await openDeliveryStack({
    ...{ folder: flags.dataDir, partitions: 4, keep: flags.keep },
    ...{ env, reporter, signal },
  });
  try {
    const results = await measureAll(options, stack);
    if (flags.writeDocs) await writeDocs(flags, results);
    return jsonLine(results);
  } finally {
    await stack.stop();
  }
}

async function measureAll(options: BenchOptions, stack: DeliveryStack): Promise<CallResult[]> {
  const { flags, env, reporter, signal, now } = options;
  const environment = passedOn(env);
  const applications = createApplications({
    stack,
    dist: flags.dist ?? join(projectRoot(), 'dist'),
    environment,
    signal,
  });
  const port = await choosePort({ taken: new Set() });
  const apiUrl = `http://127.0.0.1:${String(port)}`;
  const start = (more: readonly string[] = []): Promise<RunningApp> =>
    applications.start('public-api', { nodeFlags: [...flags.nodeFlags, ...more], env: apiSettings(port) });
  let api = await start();
  const load = startWorker({
    ...{ name: 'load', program: join(projectRoot(), 'dist/bench/api/load/main.js'), env: environment },
    ...{ guardian: stack.guardian, logsDir: stack.logsDir },
  });
  try {
    const { deliveries, callers: callerCount, seconds, warmUpSeconds } = flags;
    const callers = await callersOf({ stack, apiUrl, deliveries, reporter, now });
    const results: CallResult[] = [];
    for (const call of flags.only) {
      signal.throwIfAborted();
      const profileDir = stack.file(`profile-${call}`);
      if (flags.profile) {
        await api.stop();
        api = await start(['--cpu-prof', `--cpu-prof-dir=${profileDir}`]);
      }
      const requests = plannedRequests(call, callers, deliveries);
      const request = { origin: apiUrl, requests, callers: callerCount, seconds, warmUpSeconds };
      const result = await measureCall(call, request, { stack, api, load });
      reporter.note(callText(result));
      results.push(result);
      if (!flags.profile) continue;
      await api.stop();
      reporter.note(await profileReport(profileDir));
    }
    return results;
  } finally {
    load.stop();
    await api.stop();
  }
}

const apiSettings = (port: number): Record<string, string> => ({
  WAYPOST_PORT: String(port),
  WAYPOST_RATE_LIMIT_PER_SECOND: UNLIMITED,
  WAYPOST_RATE_LIMIT_BURST: UNLIMITED,
});

function passedOn(env: Environment): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
