import { counted } from '../../processor/report/number-text.js';
import type { CallName } from '../bench-flags.js';
import type { CallResult } from '../measure/measure-call.js';

const TITLES: Readonly<Record<CallName, string>> = {
  'v1-page': 'v1, page of 100',
  'v2-page': 'v2, page of 100',
  'v2-event': 'v2, one event by its id',
  subscription: 'a subscription by its id',
};

/** What stands in docs/benchmarks.md. @param facts of the machine and the run, as phrases */
export function reportMarkdown(results: readonly CallResult[], facts: readonly string[]): string {
  const head = '| call | requests/s | p50 ms | p99 ms | CPU ms, public-api | CPU ms, postgres | KiB an answer |';
  const rows = results.map(({ call, requestsPerSecond, p50Ms, p99Ms, cpuMs, kibPerAnswer }) => {
    const cells = [TITLES[call], counted(requestsPerSecond), p50Ms.toFixed(0), p99Ms.toFixed(0)];
    return `| ${[...cells, cpuMs.api.toFixed(2), cpuMs.postgres.toFixed(2), counted(kibPerAnswer)].join(' | ')} |`;
  });
  return [
    ...facts.map((fact) => `- ${fact}`),
    '',
    head,
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}
