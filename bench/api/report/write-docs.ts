import { cpus, release, totalmem, type } from 'node:os';
import { counted } from '../../processor/report/number-text.js';
import { writeSection } from '../../shared/docs-section.js';
import type { BenchFlags } from '../bench-flags.js';
import type { CallResult } from '../measure/measure-call.js';
import { reportMarkdown } from './tables.js';

/** Replaces the result in docs/benchmarks.md; the text around it is left alone. */
export async function writeDocs(flags: BenchFlags, results: readonly CallResult[]): Promise<void> {
  await writeSection('api', reportMarkdown(results, factsOf(flags, results)));
}

/** What a reader must know to judge the figures. */
function factsOf({ callers, deliveries }: BenchFlags, results: readonly CallResult[]): string[] {
  const [first] = cpus();
  const memoryGiB = String(Math.round(totalmem() / 1_024 ** 3));
  const foreign = Math.max(...results.map(({ foreignCores }) => foreignCores));
  return [
    `${first?.model.trim() ?? 'unknown'}, ${String(cpus().length)} cores, ${memoryGiB} GiB, ${type()} ${release()}, Node ${process.version.replace(/^v/, '')}`,
    `${counted(deliveries)} deliveries of 3 days in the table, ${String(callers)} callers, one process of public-api`,
    `other programs used up to ${foreign.toFixed(2)} cores meanwhile`,
  ];
}
