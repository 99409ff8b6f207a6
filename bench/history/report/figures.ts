import { resultLine } from '../../shared/report/number-text.js';
import type { BenchResults } from '../measure-all.js';
import { EMPTY_FLEET, FAR_PAGE, FIRST_PAGE, THREE_FILTERS } from '../scenarios/page-shapes.js';
import type { PageRun } from '../scenarios/pages.js';

/** The result in single numbers. */
function figuresOf({ fill, size, pages, retention }: BenchResults) {
  return {
    rows: size.deliveries,
    idlePageP99Ms: runOf(pages.idle, FIRST_PAGE).ms.p99,
    pageP99Ms: runOf(pages.pages, FIRST_PAGE).ms.p99,
    page1000P99Ms: runOf(pages.pages, FAR_PAGE).ms.p99,
    worstFilterP99Ms: worstFilter(pages.pages).ms.p99,
    projectedPerSecond: fill.attemptsPerSecond,
    // Until the day is gone for everyone.
    dropDayMs: retention.dropDayMs,
    // The whole of it, with the deletion of its files.
    daySpaceFreedMs: retention.spaceFreedMs,
    bytesPerDelivery: size.bytesPerDelivery,
  };
}

export function runOf(pages: readonly PageRun[], name: string): PageRun {
  const found = pages.find((page) => page.name === name);
  if (found === undefined) throw new Error(`Pages of the kind "${name}" were not read.`);
  return found;
}

export function worstFilter(pages: readonly PageRun[]): PageRun {
  // Three filters together are shown, and promised nothing.
  const others = [FIRST_PAGE, FAR_PAGE, EMPTY_FLEET, THREE_FILTERS];
  const filtered = pages.filter(({ name }) => !others.includes(name));
  const [worst] = [...filtered].sort((one, other) => other.ms.p99 - one.ms.p99);
  if (worst === undefined) throw new Error('No pages with a filter were read.');
  return worst;
}

const DECIMALS = {
  idlePageP99Ms: 1,
  pageP99Ms: 1,
  page1000P99Ms: 1,
  worstFilterP99Ms: 1,
  dropDayMs: 1,
  daySpaceFreedMs: 1,
};

/** The machine-readable result. */
export function jsonLine(results: BenchResults): string {
  return resultLine('history', figuresOf(results), DECIMALS);
}
