import CheapRuler from 'cheap-ruler';

/** A degree of latitude has at most 111,694 m, one of longitude 111,320 m. */
const MAX_METERS_PER_DEGREE = 112_000;

/** The shorter WGS-84 distance: within a millionth up to 1 km, 0.05 % up to 250 km below 65° of latitude, rough between continents. */
export function distanceInMeters(
  fromLatitude: number,
  fromLongitude: number,
  toLatitude: number,
  toLongitude: number,
): number {
  if (fromLatitude === toLatitude && fromLongitude === toLongitude) return 0;
  // The middle latitude errs least, and makes both directions equally long.
  const ruler = new CheapRuler((fromLatitude + toLatitude) / 2, 'meters');
  return ruler.distance([fromLongitude, fromLatitude], [toLongitude, toLatitude]);
}

/** Like distanceInMeters(), but needs no ruler for most pings of a parked vehicle. */
export function isWithinMeters(
  meters: number,
  fromLatitude: number,
  fromLongitude: number,
  toLatitude: number,
  toLongitude: number,
): boolean {
  const degrees = Math.abs(fromLatitude - toLatitude) + Math.abs(fromLongitude - toLongitude);
  if (degrees * MAX_METERS_PER_DEGREE < meters) return true;
  return distanceInMeters(fromLatitude, fromLongitude, toLatitude, toLongitude) < meters;
}
