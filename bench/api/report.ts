import { writeSection } from '../shared/report/docs-section.js';
import { machineText, readMachine } from '../shared/report/machine.js';
import { counted } from '../shared/report/number-text.js';
import type { BenchFlags, CallName } from './bench-flags.js';
import type { CallResult } from './measure/measure-call.js';

export function callText({ call, requestsPerSecond, p50Ms, p99Ms, cpuMs, foreignCores }: CallResult): string {
  return [
    `${call}: ${counted(requestsPerSecond)} requests/s, p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`,
    `CPU ms a request: public-api ${cpuMs.api.toFixed(2)}, postgres ${cpuMs.postgres.toFixed(2)}`,
    `foreign load ${foreignCores.toFixed(2)} cores`,
  ].join('; ');
}

const FIELDS: Readonly<Record<CallName, string>> = {
  'v1-page': 'v1Page',
  'v2-page': 'v2Page',
  'v2-event': 'v2Event',
  subscription: 'subscription',
};

/** The machine-readable result; what was not measured is absent. */
export function jsonLine(results: readonly CallResult[]): string {
  const figures = results.map(({ call, requestsPerSecond, p50Ms, p99Ms, cpuMs, foreignCores }) => [
    FIELDS[call],
    {
      ...{ requestsPerSecond: rounded(requestsPerSecond, 0), p50Ms, p99Ms },
      ...{ apiCpuMs: rounded(cpuMs.api, 3), postgresCpuMs: rounded(cpuMs.postgres, 3) },
      foreignCores: rounded(foreignCores, 2),
    },
  ]);
  return JSON.stringify({ bench: 'api', ...Object.fromEntries(figures) });
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

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

/** Replaces the result in docs/benchmarks.md; the text around it is left alone. */
export async function writeDocs(flags: BenchFlags, results: readonly CallResult[]): Promise<void> {
  await writeSection('api', reportMarkdown(results, factsOf(flags, results)));
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
