import CheapRuler from 'cheap-ruler';

/** A degree of latitude has at most 111,694 m, one of longitude 111,320 m. */
const MOST_METERS_PER_DEGREE = 112_000;

/**
 * Metres between two places on the WGS-84 ellipsoid, by the shorter way around, also across the antimeridian. Made for
 * what lies between two fixes of a vehicle: within a millionth of the geodesic up to 1 km, within 0.05 % up to 250 km
 * below 65° of latitude. Between continents it is a rough figure.
 */
export function distanceInMeters(
  fromLatitude: number,
  fromLongitude: number,
  toLatitude: number,
  toLongitude: number,
): number {
  if (fromLatitude === toLatitude && fromLongitude === toLongitude) return 0;
  // The ruler of the middle latitude errs least; it also makes the way there as long as the way back.
  const ruler = new CheapRuler((fromLatitude + toLatitude) / 2, 'meters');
  return ruler.distance([fromLongitude, fromLatitude], [toLongitude, toLatitude]);
}

/**
 * Whether two places are less than that far apart, as distanceInMeters() has it. For most pings of a parked vehicle no ruler
 * is needed to tell.
 */
export function isWithinMeters(
  meters: number,
  fromLatitude: number,
  fromLongitude: number,
  toLatitude: number,
  toLongitude: number,
): boolean {
  const degrees = Math.abs(fromLatitude - toLatitude) + Math.abs(fromLongitude - toLongitude);
  if (degrees * MOST_METERS_PER_DEGREE < meters) return true;
  return distanceInMeters(fromLatitude, fromLongitude, toLatitude, toLongitude) < meters;
}
