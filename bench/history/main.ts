import { runBenchmark } from '../shared/run-benchmark.js';
import { parseBenchFlags } from './bench-flags.js';
import { runBench } from './program.js';

await runBenchmark(parseBenchFlags(process.argv.slice(2)), runBench);
