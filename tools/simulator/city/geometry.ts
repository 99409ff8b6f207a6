/** Meters east and north of the city's center. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

const metersPerDegree = 111_320;

export function distance(a: Point, b: Point): number {
  return Math.hypot(b.x - a.x, b.y - a.y);
}

/** Degrees clockwise from north, 0 <= heading < 360. */
export function headingOf(from: Point, to: Point): number {
  const degrees = (Math.atan2(to.x - from.x, to.y - from.y) * 180) / Math.PI;
  return (degrees + 360) % 360;
}

/** The smaller angle between two headings, 0 to 180 degrees. */
export function turnBetween(a: number, b: number): number {
  const difference = Math.abs(a - b) % 360;
  return difference > 180 ? 360 - difference : difference;
}

export function toDegrees(center: { readonly latitude: number; readonly longitude: number }, { x, y }: Point) {
  const latitude = center.latitude + y / metersPerDegree;
  const longitude = center.longitude + x / (metersPerDegree * Math.cos((center.latitude * Math.PI) / 180));
  return { latitude: rounded(latitude), longitude: rounded(longitude) };
}

/** Seven decimals: about a centimeter, as receivers write them. */
function rounded(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7;
}
