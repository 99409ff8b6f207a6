import { cpus, release, totalmem, type } from 'node:os';
import { counted } from '../../processor/report/number-text.js';
import type { BenchFlags } from '../bench-flags.js';
import type { BenchResults } from '../bench-results.js';
import { FLEETS } from '../load/fleets.js';
import { TUNING } from '../stack/history-stack.js';

/** What a reader must know to judge the figures. */
export function machineText({ partitions, batchSize, pages }: BenchFlags, { fill, size }: BenchResults): string[] {
  const [first] = cpus();
  const settings = Object.entries(TUNING).map((pair) => `\`${pair.join('=')}\``);
  const memory = String(Math.round(totalmem() / 1024 ** 3));
  return [
    `${first?.model.trim() ?? 'unknown'}, ${String(cpus().length)} cores, ${memory} GiB, ${type()} ${release()}, Node ${process.version.replace(/^v/, '')}`,
    `${counted(size.deliveries)} deliveries of 15 days and ${String(FLEETS)} fleets, the largest with 15 % of them; ${counted(fill.attempts)} attempts`,
    `projected by one process, ${String(partitions)} partitions in turn, up to ${counted(batchSize)} attempts in a transaction`,
    `${String(pages)} pages of each kind; PostgreSQL with ${settings.join(', ')}`,
  ];
}
