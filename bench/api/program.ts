import { join } from 'node:path';
import { choosePort } from '../../tools/dev-stack/free-port.js';
import { projectRoot } from '../../tools/dev-stack/index.js';
import { passedOn } from '../shared/bench-config.js';
import { profileReport } from '../shared/processes/profile.js';
import type { BenchOutcome, BenchRun } from '../shared/run-benchmark.js';
import { createApplications, type RunningApp } from '../shared/stack/applications.js';
import { type BenchStack, openBenchStack } from '../shared/stack/bench-stack.js';
import { startWorker } from '../shared/processes/worker.js';
import type { BenchFlags } from './bench-flags.js';
import { callersOf, plannedRequests } from './measure/callers.js';
import { type CallResult, measureCall } from './measure/measure-call.js';
import { callText, jsonLine, writeDocs } from './report.js';

type BenchOptions = BenchRun<BenchFlags>;

const UNLIMITED = '1000000';

export async function runBench(options: BenchOptions): Promise<BenchOutcome> {
  const { flags, env, reporter, signal } = options;
  const stack = await openBenchStack({
    ...{ folder: flags.dataDir, keep: flags.keep },
    ...{ env, reporter, signal },
  });
  try {
    const results = await measureAll(options, stack);
    if (flags.writeDocs) await writeDocs(flags, results);
    return { line: jsonLine(results) };
  } finally {
    await stack.stop();
  }
}

async function measureAll(options: BenchOptions, stack: BenchStack): Promise<CallResult[]> {
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

function apiSettings(port: number): Record<string, string> {
  return {
    WAYPOST_PORT: String(port),
    WAYPOST_RATE_LIMIT_PER_SECOND: UNLIMITED,
    WAYPOST_RATE_LIMIT_BURST: UNLIMITED,
  };
}
