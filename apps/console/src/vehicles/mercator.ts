export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** A point of the map: 0 to 1 from west to east and from north to south. */
export interface MapPoint {
  readonly x: number;
  readonly y: number;
}

/** What of the map is seen: its center, and how many pixels the whole map would be wide. */
export interface MapView {
  readonly center: MapPoint;
  readonly worldPx: number;
}

/** Web Mercator ends here: the map is square. */
const MAX_LATITUDE = 85.051129;
const EARTH_CIRCUMFERENCE_M = 40_075_016.686;
const PADDING = 0.85;
/** One vehicle that stands is not shown as an atom. */
const SMALLEST_SPAN = 2e-5;
/** A pixel is 5 cm of the equator: nothing that is shown is known better. */
const MAX_WORLD_PX = EARTH_CIRCUMFERENCE_M / 0.05;

export function project({ latitude, longitude }: Place): MapPoint {
  const limited = Math.min(Math.max(latitude, -MAX_LATITUDE), MAX_LATITUDE);
  const radians = (limited * Math.PI) / 180;
  return { x: (longitude + 180) / 360, y: (1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2 };
}

/** How wide a meter is on the map at a latitude. */
export function meterOnMap(latitude: number): number {
  return 1 / (EARTH_CIRCUMFERENCE_M * Math.cos((latitude * Math.PI) / 180));
}

export function latitudeOf({ y }: MapPoint): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;
}

/** The other way of `project`. */
export function placeOf(point: MapPoint): Place {
  return { latitude: latitudeOf(point), longitude: point.x * 360 - 180 };
}

/** The largest 1, 2 or 5 times a power of ten that is not longer. */
export function roundLength(meters: number): number {
  const power = 10 ** Math.floor(Math.log10(meters));
  return power * ([5, 2].find((digit) => digit * power <= meters) ?? 1);
}

/** The view that shows all points; the whole world when there are none. */
export function fit(points: readonly MapPoint[], widthPx: number, heightPx: number): MapView {
  if (points.length === 0) return { center: { x: 0.5, y: 0.5 }, worldPx: Math.min(widthPx, heightPx) };
  const [west, east] = span(points.map(({ x }) => x));
  const [north, south] = span(points.map(({ y }) => y));
  const worldPx = PADDING * Math.min(widthPx / width(west, east), heightPx / width(north, south));
  return { center: { x: (west + east) / 2, y: (north + south) / 2 }, worldPx };
}

export function toScreen({ x, y }: MapPoint, view: MapView, widthPx: number, heightPx: number): MapPoint {
  return {
    x: widthPx / 2 + (x - view.center.x) * view.worldPx,
    y: heightPx / 2 + (y - view.center.y) * view.worldPx,
  };
}

/** The other way of `toScreen`. */
export function fromScreen({ x, y }: MapPoint, view: MapView, widthPx: number, heightPx: number): MapPoint {
  return {
    x: view.center.x + (x - widthPx / 2) / view.worldPx,
    y: view.center.y + (y - heightPx / 2) / view.worldPx,
  };
}

/** Closer by a factor, between the whole world and a few meters; the point under (x, y) of the screen stays there. */
export function zoom(view: MapView, factor: number, at: MapPoint, widthPx: number, heightPx: number): MapView {
  const leastPx = PADDING * Math.min(widthPx, heightPx);
  const worldPx = Math.min(Math.max(view.worldPx * factor, leastPx), MAX_WORLD_PX);
  const shift = 1 / view.worldPx - 1 / worldPx;
  return onTheMap({
    worldPx,
    center: { x: view.center.x + (at.x - widthPx / 2) * shift, y: view.center.y + (at.y - heightPx / 2) * shift },
  });
}

export function pan(view: MapView, dxPx: number, dyPx: number): MapView {
  const { center, worldPx } = view;
  return onTheMap({ worldPx, center: { x: center.x - dxPx / worldPx, y: center.y - dyPx / worldPx } });
}

/** With the points of the map that were under two fingers under them again, unless they turn. */
export function pinch(
  view: MapView,
  before: readonly MapPoint[],
  now: readonly MapPoint[],
  { width: widthPx, height: heightPx }: { readonly width: number; readonly height: number },
): MapView {
  const [from, to] = [betweenFingers(before), betweenFingers(now)];
  const factor = to.apart / Math.max(1, from.apart);
  return zoom(pan(view, to.x - from.x, to.y - from.y), factor, to, widthPx, heightPx);
}

function betweenFingers(fingers: readonly MapPoint[]): MapPoint & { readonly apart: number } {
  const [one = ORIGIN, other = one] = fingers;
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, apart: Math.hypot(one.x - other.x, one.y - other.y) };
}

const ORIGIN: MapPoint = { x: 0, y: 0 };

/** Its middle cannot be dragged beside the map, where nothing is. */
function onTheMap({ worldPx, center }: MapView): MapView {
  return { worldPx, center: { x: Math.min(1, Math.max(0, center.x)), y: Math.min(1, Math.max(0, center.y)) } };
}

/** A loop: a path may have more points than a call may have arguments. */
function span(values: readonly number[]): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return [least, most];
}

function width(least: number, most: number): number {
  return Math.max(most - least, SMALLEST_SPAN);
}
