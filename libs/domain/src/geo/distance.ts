import CheapRuler from 'cheap-ruler';

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
