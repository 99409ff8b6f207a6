import type { Provocation } from './provocation.js';
import { ofDeliveries } from './provocations/deliveries.js';
import { ofProcesses } from './provocations/processes.js';
import { ofTheApi } from './provocations/the-api.js';

export const PROVOCATIONS: readonly Provocation[] = [...ofProcesses, ...ofDeliveries, ...ofTheApi];

/** Alerts that cannot be provoked on one machine in minutes, and why. */
export const NOT_PROVOKED: Readonly<Record<string, string>> = {
  WaypostRetriesPastDue:
    'a process that owns its partition and does not start a retry for half a minute has a bug; one without a broker gives the partition up after 7 s',
};
