import type { Provocation } from './provocation.js';
import { ofDeliveries } from './provocations/deliveries.js';
import { ofProcesses } from './provocations/processes.js';
import { ofTheApi } from './provocations/the-api.js';

export const PROVOCATIONS: readonly Provocation[] = [...ofProcesses, ...ofDeliveries, ...ofTheApi];

/** Alerts that nothing here provokes, and why. */
export const NOT_PROVOKED: Readonly<Record<string, string>> = {
  WaypostRetriesPastDue:
    'a process that owns its partition and does not start a retry for half a minute has a bug; one without a broker gives the partition up after 7 s',
  WaypostBacklogExpires: 'it takes twelve days, and what a rule compares with is not shortened',
  WaypostLagStays:
    'tried with 290,000 pings and a network of 450 KB/s between the processors and the broker: it did not fire within two minutes, since a fetch takes 2 MiB of each partition at once',
  WaypostRecordsOld:
    'tried in the same way: a slow process has batches of ten seconds, which is as long as the shortened window of this rule',
};
