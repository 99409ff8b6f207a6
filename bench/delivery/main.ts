import { runBenchmark } from '../shared/run-benchmark.js';
import { serveDeliveryStack } from '../shared/stack/delivery-stack.js';
import { parseBenchFlags } from './bench-flags.js';
import { runBench } from './program.js';

await runBenchmark(parseBenchFlags(process.argv.slice(2)), async (options) => {
  const { flags, env, reporter, signal } = options;
  if (!flags.serve) return runBench(options);
  const { dataDir, partitions } = flags;
  await serveDeliveryStack({ folder: dataDir, env, partitions, reporter, signal, keep: true });
  return { line: null };
});
