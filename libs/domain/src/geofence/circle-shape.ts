import type { GeofenceCircle } from '../records/geofence.js';
import { boxesOf, type GeoBox, type GeofenceShape } from './shape.js';
import { arcInMeters, EARTH_RADIUS_IN_METERS, METERS_PER_DEGREE, toDegrees, toRadians } from './sphere.js';

/** Up to this latitude, a plane tangent at the center is off by less than half a percent. */
const PLANE_LATITUDE = 70;
const PLANE_METERS = 20_000;
/** This close to the edge the sphere decides instead of the plane. */
const CLEAR_SHARE = 0.02;

const LATITUDE = 0;
const LONGITUDE = 1;
const RADIUS = 2;
const COSINE = 3;

export class CircleShape implements GeofenceShape {
  /** One array, since separate fields would be separate heap numbers. */
  private readonly numbers: readonly number[];

  constructor({ latitude, longitude, radiusInMeters }: GeofenceCircle) {
    this.numbers = [latitude, longitude, radiusInMeters, Math.cos(toRadians(latitude))];
  }

  get boxes(): readonly GeoBox[] {
    return boxesAround(this.numbers[LATITUDE] as number, this.numbers[LONGITUDE] as number, this.radiusInMeters);
  }

  get radiusInMeters(): number {
    return this.numbers[RADIUS] as number;
  }

  contains(latitude: number, longitude: number): boolean {
    return this.isWithin(latitude, longitude, this.radiusInMeters);
  }

  isBeyond(latitude: number, longitude: number, marginInMeters: number): boolean {
    return !this.isWithin(latitude, longitude, this.radiusInMeters + marginInMeters);
  }

  private isWithin(latitude: number, longitude: number, limit: number): boolean {
    const { numbers } = this;
    const centerLatitude = numbers[LATITUDE] as number;
    const north = (latitude - centerLatitude) * METERS_PER_DEGREE;
    // A meter exceeds the rounding error.
    if (Math.abs(north) > limit + 1) return false;
    const turn = longitude - (numbers[LONGITUDE] as number);
    const cosine = numbers[COSINE] as number;
    // The sphere costs ten times as much as the plane.
    if (Math.abs(centerLatitude) <= PLANE_LATITUDE && limit <= PLANE_METERS && Math.abs(turn) < 180) {
      const east = turn * METERS_PER_DEGREE * cosine;
      const share = (east * east + north * north) / (limit * limit);
      if (share < (1 - CLEAR_SHARE) ** 2) return true;
      if (share > (1 + CLEAR_SHARE) ** 2) return false;
    }
    return this.metersToCenter(latitude, longitude) <= limit;
  }

  private metersToCenter(latitude: number, longitude: number): number {
    const { numbers } = this;
    const cosine = numbers[COSINE] as number;
    const toCosine = Math.cos(toRadians(latitude));
    const [centerLatitude, centerLongitude] = [numbers[LATITUDE] as number, numbers[LONGITUDE] as number];
    return arcInMeters(centerLatitude, centerLongitude, cosine, latitude, longitude, toCosine);
  }
}

function boxesAround(latitude: number, longitude: number, radiusInMeters: number): readonly GeoBox[] {
  const angle = radiusInMeters / EARTH_RADIUS_IN_METERS;
  const reach = toDegrees(angle);
  const south = latitude - reach;
  const north = latitude + reach;
  // Every meridian meets a circle around a pole.
  if (south <= -90 || north >= 90) return boxesOf(Math.max(-90, south), Math.min(90, north), -180, 180);
  const east = toDegrees(Math.asin(Math.sin(angle) / Math.cos(toRadians(latitude))));
  return boxesOf(south, north, longitude - east, longitude + east);
}
