import { createFleetModel, type FleetModelOptions, type TrafficRow } from './fleet-model.js';

export interface TrafficOptions extends FleetModelOptions {
  readonly durationMs: number;
}

/**
 * Recorded-like traffic without a recording: the pings of a fleet over a while, in the form of a track file and in the
 * order of arrival, with lost fixes, late, buffered and repeated pings. The same options give the same rows.
 */
export function generateTraffic({ durationMs, ...model }: TrafficOptions): TrafficRow[] {
  return createFleetModel(model).advanceTo(model.startAt + durationMs);
}
