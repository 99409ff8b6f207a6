import { profileReport } from '../shared/processes/profile.js';
import { machineText, readMachine } from '../shared/report/machine.js';
import { runBenchmark, runOnStack } from '../shared/run-benchmark.js';
import { parseBenchFlags } from './bench-flags.js';
import { runConnections } from './connections/run-connections.js';
import { measureAll } from './measure-all.js';
import { jsonLine } from './report/figures.js';
import { writeIsolationPage } from './report/isolation-page.js';
import { inputsOf, readSaved, RESULT_FILES, save } from './report/saved-results.js';
import { writeDocs } from './report/tables.js';
import { openReceivers } from './stack/receivers.js';
import { sinkPorts, subscribersOf } from './stack/subscribers.js';
import { createSystem } from './stack/system.js';
import { startHarness } from './workers/harness.js';

const parsed = parseBenchFlags(process.argv.slice(2));
if (parsed.redraw) {
  await writeIsolationPage(await readSaved(RESULT_FILES.docs));
  process.exit(0);
}

if (parsed.connections) await runBenchmark(parsed, runConnections);
else
  await runOnStack(parsed, async (run) => {
    const { flags, stack, applications, environment, reporter } = run;
    const receivers = await openReceivers(stack);
    const { env, certificate } = receivers;
    const ports = await sinkPorts(stack);
    const harness = await startHarness({ stack, environment, certificate, ports });
    const profileDir = stack.file('profile');
    const nodeFlags = [...flags.nodeFlags, ...(flags.profile ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] : [])];
    const system = createSystem({ stack, applications, instances: flags.instances, nodeFlags, env });
    try {
      const subscribers = await subscribersOf({ ...run, receivers, ports });
      const inputs = inputsOf(flags);
      for (const fact of [machineText(readMachine()), ...inputs]) reporter.note(`  ${fact}`);
      const file = flags.writeDocs ? RESULT_FILES.docs : RESULT_FILES.local;
      const results = await measureAll({ ...run, receivers, subscribers, system, harness }, async (found) => {
        await save(file, { ...found, inputs });
      });
      await system.stop();
      if (flags.profile) reporter.note(await profileReport(profileDir));
      if (flags.writeDocs) await writeDocs(flags, results);
      return jsonLine(results);
    } finally {
      await system.stop();
      harness.stop();
      receivers.nameServer.close();
    }
  });
