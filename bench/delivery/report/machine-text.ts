import { cpus, release, totalmem, type } from 'node:os';
import { counted } from '../../processor/report/number-text.js';
import type { BenchFlags } from '../bench-flags.js';
import type { BenchResults } from '../bench-results.js';

/** What a reader must know to judge the figures, as sentences. */
export type MachineText = readonly string[];

export function machineText(flags: BenchFlags, { capacity, healthy }: BenchResults): MachineText {
  const [first] = cpus();
  const instances = flags.instances === 1 ? 'one process' : `${String(flags.instances)} processes`;
  return [
    `${first?.model.trim() ?? 'unknown'}, ${String(cpus().length)} cores, ${String(Math.round(totalmem() / 1024 ** 3))} GiB, ${type()} ${release()}, Node ${process.version.replace(/^v/, '')}`,
    `webhook-delivery in ${instances}, ${String(flags.partitions)} partitions, 100 endpoints on ${String(flags.origins)} ports, body of 1 KB, both signatures${flags.history ? ', history-projector running' : ''}`,
    ...(capacity === null
      ? []
      : [
          `by themselves the sink answers ${counted(capacity.postsPerSecond)} POSTs/s and the load generator commits ${counted(capacity.eventsPerSecond)} events/s`,
        ]),
    ...(healthy === null
      ? []
      : [`other programs used ${healthy.foreignCores.toFixed(2)} cores while the maximum was measured`]),
  ];
}
