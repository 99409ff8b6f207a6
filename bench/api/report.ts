import { bulletList, tableOf, writeResult } from '../shared/report/docs-section.js';
import { machineText, readMachine } from '../shared/report/machine.js';
import { counted, resultLine } from '../shared/report/number-text.js';
import type { BenchFlags, CallName } from './bench-flags.js';
import type { CallResult } from './measure/measure-call.js';

export function callText({ call, requestsPerSecond, p50Ms, p99Ms, cpuMs, foreignCores }: CallResult): string {
  return [
    `${call}: ${counted(requestsPerSecond)} requests/s, p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`,
    `CPU ms a request: public-api ${cpuMs.api.toFixed(2)}, postgres ${cpuMs.postgres.toFixed(2)}`,
    `foreign load ${foreignCores.toFixed(2)} cores`,
  ].join('; ');
}

const NAMES: Readonly<Record<CallName, { readonly field: string; readonly title: string }>> = {
  'v1-page': { field: 'v1Page', title: 'v1, page of 100' },
  'v2-page': { field: 'v2Page', title: 'v2, page of 100' },
  'v2-event': { field: 'v2Event', title: 'v2, one event by its id' },
  subscription: { field: 'subscription', title: 'a subscription by its id' },
};

/** The machine-readable result; what was not measured is absent. */
export function jsonLine(results: readonly CallResult[]): string {
  const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
  const figures = results.map(({ call, requestsPerSecond, p50Ms, p99Ms, cpuMs, foreignCores }) => [
    NAMES[call].field,
    {
      requestsPerSecond: rounded(requestsPerSecond, 0),
      p50Ms,
      p99Ms,
      apiCpuMs: rounded(cpuMs.api, 3),
      postgresCpuMs: rounded(cpuMs.postgres, 3),
      foreignCores: rounded(foreignCores, 2),
    },
  ]);
  return resultLine('api', Object.fromEntries(figures) as Record<string, unknown>, {});
}

/** Replaces the result in docs/benchmarks.md; the text around it is left alone. */
export async function writeDocs(flags: BenchFlags, results: readonly CallResult[]): Promise<void> {
  const head = ['call', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms, public-api', 'CPU ms, postgres', 'KiB per answer'];
  const rows = results.map(({ call, requestsPerSecond, p50Ms, p99Ms, cpuMs, kibPerAnswer }) => [
    ...[NAMES[call].title, counted(requestsPerSecond), p50Ms.toFixed(0), p99Ms.toFixed(0)],
    ...[cpuMs.api.toFixed(2), cpuMs.postgres.toFixed(2), counted(kibPerAnswer)],
  ]);
  await writeResult('api', [bulletList(factsOf(flags, results)), tableOf([head, ...rows])].join('\n\n'), results);
}

/** What a reader must know to judge the figures. */
function factsOf({ callers, deliveries }: BenchFlags, results: readonly CallResult[]): string[] {
  const foreign = Math.max(...results.map(({ foreignCores }) => foreignCores));
  return [
    machineText(readMachine()),
    `${counted(deliveries)} deliveries of 3 days in the table, ${String(callers)} callers, one process of public-api`,
    `other programs used up to ${foreign.toFixed(2)} cores meanwhile`,
  ];
}
