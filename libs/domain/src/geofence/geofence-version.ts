import { shapeOf } from './geofence-shape.js';
import type { GeofenceShape } from './shape.js';
import type { Geofence } from '../records/geofence.js';

/** What decisions and events say of a geofence. */
export type NamedGeofence = Pick<Geofence, 'geofenceId' | 'name' | 'version'>;

/** A geofence as it was from one record of `fleet.geofences` to the next; times are the broker's, epoch milliseconds. */
export class GeofenceVersion implements NamedGeofence {
  readonly geofenceId: string;
  readonly name: string;
  readonly version: number;
  readonly shape: GeofenceShape;
  /** Exclusive; Infinity: still in force. */
  to = Infinity;

  /**
   * @param since when the geofence itself came to be, under whichever version
   * @param from when this version came
   */
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

export const isInForce = ({ from, to }: GeofenceVersion, at: number): boolean => from <= at && at < to;
