import type { Geofence } from './geofence.js';
import { ofOutline, outlineOf, type GeofenceOutline } from './geofence-outline.js';
import { shapeOf } from './geofence-shape.js';
import type { GeofenceShape } from './shape.js';

/** What decisions and events say of a geofence. */
export type NamedGeofence = Pick<Geofence, 'geofenceId' | 'name' | 'version'>;

/** A geofence as it was from one record of `fleet.geofences` to the next; times are the broker's, epoch milliseconds. */
export class GeofenceVersion implements NamedGeofence {
  readonly geofenceId: string;
  readonly name: string;
  readonly version: number;
  /** Exclusive; Infinity: still in force. */
  to = Infinity;
  private readonly outline: GeofenceOutline;
  private prepared: GeofenceShape | null = null;

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
    this.outline = outlineOf(geofence);
  }

  /** Prepared when the first vehicle comes near. */
  get shape(): GeofenceShape {
    return (this.prepared ??= shapeOf(ofOutline(this.outline)));
  }

  /** As the shape has them; prepares nothing that would be kept. */
  boxes(): GeofenceShape['boxes'] {
    return (this.prepared ?? shapeOf(ofOutline(this.outline))).boxes;
  }
}

export const isInForce = ({ from, to }: GeofenceVersion, at: number): boolean => from <= at && at < to;
