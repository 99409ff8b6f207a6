import { join } from 'node:path';
import { choosePort } from '../../tools/dev-stack/free-port.js';
import { profileReport } from '../shared/processes/profile.js';
import { startWorker } from '../shared/processes/worker.js';
import { runOnStack, type StackRun } from '../shared/run-benchmark.js';
import type { RunningApp } from '../shared/stack/applications.js';
import { type BenchFlags, parseBenchFlags } from './bench-flags.js';
import { callersOf, plannedRequests } from './measure/callers.js';
import { type CallResult, measureCall } from './measure/measure-call.js';
import { callText, jsonLine, writeDocs } from './report.js';

const UNLIMITED = '1000000';

await runOnStack(parseBenchFlags(process.argv.slice(2)), async (run) => {
  const results = await measureAll(run);
  if (run.flags.writeDocs) await writeDocs(run.flags, results);
  return jsonLine(results);
});

async function measureAll(run: StackRun<BenchFlags>): Promise<CallResult[]> {
  const { flags, environment, reporter, signal, now, stack, applications } = run;
  const port = await choosePort({ taken: new Set() });
  const apiUrl = `http://127.0.0.1:${String(port)}`;
  const start = (more: readonly string[] = []): Promise<RunningApp> =>
    applications.start('public-api', { nodeFlags: [...flags.nodeFlags, ...more], env: apiSettings(port) });
  let api = await start();
  const load = startWorker({
    name: 'load',
    program: join(import.meta.dirname, 'load/main.js'),
    env: environment,
    guardian: stack.guardian,
    logsDir: stack.logsDir,
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
  return { WAYPOST_PORT: String(port), WAYPOST_RATE_LIMIT_PER_SECOND: UNLIMITED, WAYPOST_RATE_LIMIT_BURST: UNLIMITED };
}
