import { type FleetSettings, formatTime } from '@waypost/domain';

/** A fleet as the API shows it. */
export interface FleetResource {
  readonly id: string;
  readonly name?: string;
  readonly payloadFormat: string;
  readonly routes: boolean;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function toFleetResource({ fleetId, name, payloadFormat, routes, ...stored }: FleetSettings): FleetResource {
  return {
    id: fleetId,
    ...(name === null ? {} : { name }),
    payloadFormat,
    routes,
    version: stored.version,
    createdAt: formatTime(stored.createdAt),
    updatedAt: formatTime(stored.updatedAt),
  };
}
