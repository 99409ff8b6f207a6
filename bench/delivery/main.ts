import { profileReport } from '../shared/processes/profile.js';
import { runOnStack } from '../shared/run-benchmark.js';
import { parseBenchFlags } from './bench-flags.js';
import { measureAll } from './measure-all.js';
import { jsonLine } from './report/figures.js';
import { writeDocs } from './report/tables.js';
import { subscribersOf } from './stack/subscribers.js';
import { createSystem } from './stack/system.js';
import { startHarness } from './workers/harness.js';

await runOnStack(parseBenchFlags(process.argv.slice(2)), async (run) => {
  const { flags, stack, applications, environment, reporter } = run;
  const subscribers = await subscribersOf(run);
  const harness = await startHarness({ stack, environment, ports: subscribers.ports });
  const profileDir = stack.file('profile');
  const nodeFlags = [...flags.nodeFlags, ...(flags.profile ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] : [])];
  const system = createSystem({ stack, applications, instances: flags.instances, nodeFlags });
  try {
    const results = await measureAll({ ...run, subscribers, system, harness });
    await system.stop();
    if (flags.profile) reporter.note(await profileReport(profileDir));
    if (flags.writeDocs) await writeDocs(flags, results);
    return jsonLine(results);
  } finally {
    await system.stop();
    harness.stop();
  }
});
