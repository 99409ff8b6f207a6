import { writeFile } from 'node:fs/promises';
import { projectFile } from '../../../tools/dev-stack/index.js';
import { writeSection } from '../../shared/docs-section.js';
import type { BenchResults } from '../bench-results.js';
import { chartSvg } from '../../shared/chart.js';
import { figuresOf, type Figures } from './figures.js';
import { counted } from '../../shared/number-text.js';
import { summaryRows } from './summary.js';
import { reportMarkdown, rulesMarkdown } from './tables.js';

const PICTURE = 'docs/images/bench-processor.svg';

/** Replaces what was measured in docs/benchmarks.md, and its picture; the text around it is left alone. */
export async function writeDocs(results: BenchResults): Promise<void> {
  const figures = figuresOf(results);
  const rules = rulesMarkdown(results, figures);
  if (rules !== null) await writeSection('rules', rules);
  if (!isBesidePeer(results)) return;
  await writeSection('processor', reportMarkdown(results, figures));
  await writeFile(projectFile(PICTURE), pictureOf(results, figures));
}

function isBesidePeer({ drain, latency, restore, failover }: BenchResults): boolean {
  return [drain, latency, restore, failover].some((runs) => runs.length > 0);
}

function pictureOf({ machine, backlog }: BenchResults, figures: Figures): string {
  const subtitle = `${counted(backlog.pings)} pings, ${counted(backlog.devices)} devices, 4 partitions; one machine with ${String(machine.cores)} cores; each side in its best configuration for the figure`;
  const panels = summaryRows(figures).map(({ title, note, pair, text }) => ({
    title,
    note,
    bars: [
      { name: 'Waypost', value: pair.ours ?? 0, text: text(pair.ours ?? 0) },
      { name: 'Kafka Streams', value: pair.theirs ?? 0, text: text(pair.theirs ?? 0) },
    ],
  }));
  return chartSvg('telemetry-processor beside Kafka Streams', subtitle, panels);
}
