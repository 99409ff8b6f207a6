import { counted } from '../../processor/report/number-text.js';
import type { CallName } from '../bench-flags.js';
import type { CallResult } from '../measure/measure-call.js';

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

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
