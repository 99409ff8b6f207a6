import type { Geofence } from '../records/geofence.js';
import { shapeOf } from './geofence-shape.js';
import type { GeofenceShape } from './shape.js';

export type NamedGeofence = Pick<Geofence, 'geofenceId' | 'name' | 'version'>;

/** A geofence from one record of `fleet.geofences` to the next, by the broker's times. */
export class GeofenceVersion implements NamedGeofence {
  readonly geofenceId: string;
  readonly name: string;
  readonly version: number;
  readonly shape: GeofenceShape;
  /** Exclusive; Infinity: still in force. */
  to = Infinity;

  constructor(
    geofence: Geofence,
    readonly since: number,
    readonly from: number,
  ) {
    this.geofenceId = geofence.geofenceId;
    this.name = geofence.name;
    this.version = geofence.version;
    this.shape = shapeOf(geofence);
  }
}

export function isInForce({ from, to }: GeofenceVersion, at: number): boolean {
  return from <= at && at < to;
}
