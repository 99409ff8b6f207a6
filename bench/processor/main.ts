import { runBenchmark } from '../shared/run-benchmark.js';
import { parseBenchFlags } from './bench-flags.js';
import { runBench } from './program.js';
import { serveBenchStack } from './stack/bench-stack.js';

await runBenchmark(parseBenchFlags(process.argv.slice(2)), async (options) => {
  const { flags, env, reporter, signal } = options;
  if (!flags.serve) return runBench(options);
  await serveBenchStack({ folder: flags.dataDir, env, reporter, signal, keep: true });
  return { line: null };
});
