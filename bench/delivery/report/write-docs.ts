import { writeFile } from 'node:fs/promises';
import { projectFile } from '../../../tools/dev-stack/index.js';
import { chartSvg, type Panel } from '../../shared/chart.js';
import { writeSection } from '../../shared/docs-section.js';
import { machineText, readMachine } from '../../shared/machine.js';
import { counted } from '../../shared/number-text.js';
import type { BenchResults } from '../bench-results.js';
import type { BenchFlags } from '../bench-flags.js';
import { figuresOf } from './figures.js';
import { PEERS } from './peers.js';
import { type SummaryRow, summaryRows } from './summary.js';
import { reportMarkdown } from './tables.js';

const PICTURE = 'docs/images/bench-delivery.svg';

/** Replaces the result in docs/benchmarks.md, and its picture; the text around it is left alone. */
export async function writeDocs(flags: BenchFlags, results: BenchResults): Promise<void> {
  await writeSection('delivery', reportMarkdown(results, runFacts(flags, results)));
  await writeFile(projectFile(PICTURE), pictureOf(results));
}

function pictureOf(results: BenchResults): string {
  const panels = summaryRows(figuresOf(results)).flatMap(panelOf);
  return chartSvg(
    'webhook-delivery beside the best of Svix, Outpost and Convoy',
    'each figure beside the peer that is best at it; measured on different machines of the same size, so ratios are rough',
    panels,
  );
}

/** No panel where no peer was measured. */
function panelOf({ title, note, ours, peers, text, isMoreBetter }: SummaryRow): Panel[] {
  const known = PEERS.flatMap(({ name }, index) => {
    const value = peers[index] ?? null;
    return value === null ? [] : [{ name: name.split(' ')[0] ?? name, value, text: text(value) }];
  });
  const [best] = known.sort((one, other) => (isMoreBetter ? other.value - one.value : one.value - other.value));
  // A bar has no length where both are nothing.
  if (best === undefined || ours === null || Math.max(best.value, ours) === 0) return [];
  return [
    {
      title,
      note: `${note}; ${isMoreBetter ? 'more' : 'less'} is better`,
      bars: [{ name: 'Waypost', value: ours, text: text(ours) }, best],
    },
  ];
}

export function runFacts(flags: BenchFlags, { capacity, healthy }: BenchResults): string[] {
  const instances = flags.instances === 1 ? 'one process' : `${String(flags.instances)} processes`;
  return [
    machineText(readMachine()),
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
