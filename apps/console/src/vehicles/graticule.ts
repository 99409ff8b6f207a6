import { fromScreen, type MapView, placeOf } from './mercator.js';

/** The meridians and parallels that are drawn over a map, in degrees, and how far apart they are. */
export interface Graticule {
  readonly longitudes: readonly number[];
  readonly latitudes: readonly number[];
  readonly stepDegrees: number;
}

const LEAST_PX = 110;
/** 1, 2 and 5 times the powers of ten, and what divides a circle above. */
const STEPS = [
  ...[-5, -4, -3, -2, -1, 0].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power)),
  ...[10, 30, 60],
];
const WIDEST = 90;

export function graticuleOf(view: MapView, widthPx: number, heightPx: number): Graticule {
  const stepDegrees = STEPS.find((step) => (step * view.worldPx) / 360 >= LEAST_PX) ?? WIDEST;
  const northWest = placeOf(fromScreen({ x: 0, y: 0 }, view, widthPx, heightPx));
  const southEast = placeOf(fromScreen({ x: widthPx, y: heightPx }, view, widthPx, heightPx));
  return {
    longitudes: multiplesOf(stepDegrees, Math.max(-180, northWest.longitude), Math.min(180, southEast.longitude)),
    latitudes: multiplesOf(stepDegrees, southEast.latitude, northWest.latitude),
    stepDegrees,
  };
}

function multiplesOf(step: number, from: number, to: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

/** Decimals that tell multiples of the step apart. */
export function decimalsOf(stepDegrees: number): number {
  return Math.max(0, Math.ceil(-Math.log10(stepDegrees) - 1e-9));
}

/** `52.5° N` */
export function latitudeText(degrees: number, decimals: number): string {
  return degreesText(degrees, decimals, ['N', 'S']);
}

/** `13.4° E` */
export function longitudeText(degrees: number, decimals: number): string {
  return degreesText(degrees, decimals, ['E', 'W']);
}

function degreesText(degrees: number, decimals: number, [positive, negative]: readonly [string, string]): string {
  const text = Math.abs(degrees).toFixed(decimals);
  // Neither side of the equator, nor of Greenwich.
  return Number(text) === 0 ? `${text}°` : `${text}° ${degrees > 0 ? positive : negative}`;
}
