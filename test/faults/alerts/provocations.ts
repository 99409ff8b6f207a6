import type { Provocation } from './provocation.js';
import { ofDeliveries } from './provocations/deliveries.js';
import { ofProcesses } from './provocations/processes.js';
import { ofTheApi } from './provocations/the-api.js';

export const PROVOCATIONS: readonly Provocation[] = [...ofProcesses, ...ofDeliveries, ...ofTheApi];

/** Alerts that cannot be provoked on one machine in minutes, and why. */
export const NOT_PROVOKED: Readonly<Record<string, string>> = {};
