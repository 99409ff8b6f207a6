import { writeFile } from 'node:fs/promises';
import { projectFile } from '../../../tools/dev-stack/index.js';
import { chartSvg, type Panel } from '../../shared/chart.js';
import { writeSection } from '../../shared/docs-section.js';
import { counted } from '../../shared/number-text.js';
import type { BenchResults } from '../bench-results.js';
import type { BenchFlags } from '../bench-flags.js';
import { reportText } from './report-text.js';

const PICTURE = 'docs/images/bench-history.svg';

/** Replaces the result in docs/benchmarks.md, and its picture; the text around it is left alone. */
export async function writeDocs(flags: BenchFlags, results: BenchResults): Promise<void> {
  await writeSection('history', reportText(flags, results));
  const picture = pictureOf(results);
  if (picture !== null) await writeFile(projectFile(PICTURE), picture);
}

/** null: without the naive table there is nothing to compare with. */
export function pictureOf({ naive, retention, size }: BenchResults): string | null {
  if (naive === null) return null;
  const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : counted(value)} ms`;
  const panel = (title: string, note: string, pair: readonly [number, number], text = ms): Panel => ({
    title,
    note: `${note}; less is better`,
    bars: [
      { name: 'Waypost', value: pair[0], text: text(pair[0]) },
      { name: 'one table', value: pair[1], text: text(pair[1]) },
    ],
  });
  return chartSvg(
    'The delivery history beside one table with OFFSET paging',
    `${counted(naive.rows)} of ${counted(size.deliveries)} deliveries, pages of 100 of the largest fleet; while attempts are projected at full speed`,
    [
      ...naive.pages.map(({ name, oursMs, naiveMs }) => panel(name, 'median', [oursMs.p50, naiveMs.p50])),
      panel('A day goes', 'DETACH and DROP, or DELETE', [retention.spaceFreedMs, naive.deleteDayMs]),
      panel('Bytes a delivery', 'with all indexes', [size.bytesPerDelivery, naive.bytesPerDelivery], counted),
    ],
  );
}
