import { decimalsOf, graticuleOf, latitudeText, longitudeText } from './graticule.js';
import { type MapView, project, toScreen } from './mercator.js';

interface GraticuleColors {
  readonly grid: string;
  readonly faint: string;
}

const FONT = '11px "Inter Variable", system-ui, sans-serif';
const FROM_EDGE_PX = 6;
/** Where the scale is, at the bottom left, and above it all along the left edge the text of a place. */
const SCALE_WIDTH_PX = 180;
const SCALE_HEIGHT_PX = 44;
const TEXT_HEIGHT_PX = 44;

/** Meridians and parallels with their degrees at the edges: without tiles, nothing else says where on Earth a map is. */
export function drawGraticule(
  context: CanvasRenderingContext2D,
  view: MapView,
  { width, height }: { readonly width: number; readonly height: number },
  { grid, faint }: GraticuleColors,
): void {
  const { longitudes, latitudes, stepDegrees } = graticuleOf(view, width, height);
  const decimals = decimalsOf(stepDegrees);
  context.font = FONT;
  context.fillStyle = faint;
  context.strokeStyle = grid;
  context.lineWidth = 1;
  context.beginPath();
  for (const longitude of longitudes) {
    const { x } = toScreen(project({ latitude: 0, longitude }), view, width, height);
    context.moveTo(x, 0);
    context.lineTo(x, height);
    const text = longitudeText(longitude, decimals);
    const isWhole = x > SCALE_WIDTH_PX && x + 3 + context.measureText(text).width < width;
    if (isWhole) context.fillText(text, x + 3, height - FROM_EDGE_PX);
  }
  for (const latitude of latitudes) {
    const { y } = toScreen(project({ latitude, longitude: 0 }), view, width, height);
    context.moveTo(0, y);
    context.lineTo(width, y);
    if (y > TEXT_HEIGHT_PX && y < height - SCALE_HEIGHT_PX)
      context.fillText(latitudeText(latitude, decimals), FROM_EDGE_PX, y - 3);
  }
  context.stroke();
}
