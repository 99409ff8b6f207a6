import type { Geofence } from '@waypost/client';
import { coloursOf } from '../shared/colours.js';
import {
  latitudeOf,
  type MapPoint,
  type MapView,
  metreOnMap,
  type Place,
  project,
  roundLength,
  toScreen,
} from './mercator.js';

export interface MapMark extends Place {
  readonly label: string;
}

export interface MapContent {
  readonly geofences: readonly Geofence[];
  readonly path: readonly Place[];
  readonly marks: readonly MapMark[];
  /** Of the path or the marks; what the reader points at. */
  readonly selected: Place | null;
}

const COLOURS = ['accent', 'faint', 'text', 'bad'] as const;

type Colours = Readonly<Record<(typeof COLOURS)[number], string>>;

type Context = CanvasRenderingContext2D;
type Screen = (place: Place) => MapPoint;

const MARK_PX = 4;
const SCALE_PX = 160;

/** Draws everything: geofences lie under the path, marks above it. */
export function drawMap(canvas: HTMLCanvasElement, view: MapView, content: MapContent): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = height * scale;
  context.scale(scale, scale);
  const screen: Screen = (place) => toScreen(project(place), view, width, height);
  const colours = coloursOf(canvas, COLOURS);
  for (const geofence of content.geofences) drawGeofence(context, geofence, view, screen, colours);
  drawPath(context, content.path, screen, colours.accent);
  for (const mark of content.marks) drawMark(context, screen(mark), mark.label, colours);
  drawScale(context, view, height, colours.text);
  if (content.selected) drawSelection(context, screen(content.selected), colours.bad);
}

function drawGeofence(
  context: Context,
  { name, shape }: Geofence,
  view: MapView,
  screen: Screen,
  colours: Colours,
): void {
  context.beginPath();
  const rings = shape.type === 'polygon' ? shape.coordinates : [];
  for (const ring of rings)
    line(
      context,
      ring.map(([longitude = 0, latitude = 0]) => screen({ latitude, longitude })),
      true,
    );
  if (shape.type === 'circle') {
    const { x, y } = screen(shape.center);
    context.arc(x, y, shape.radiusInMeters * metreOnMap(shape.center.latitude) * view.worldPx, 0, 2 * Math.PI);
  }
  context.strokeStyle = colours.faint;
  context.setLineDash([6, 4]);
  context.lineWidth = 1.5;
  context.stroke();
  context.setLineDash([]);
  const [first] = rings[0] ?? [];
  const at = shape.type === 'circle' ? shape.center : { latitude: first?.[1] ?? 0, longitude: first?.[0] ?? 0 };
  drawLabel(context, screen(at), name, colours.faint);
}

function drawPath(context: Context, path: readonly Place[], screen: Screen, colour: string): void {
  context.beginPath();
  line(context, path.map(screen), false);
  context.strokeStyle = colour;
  context.lineWidth = 2.5;
  context.lineJoin = 'round';
  context.stroke();
}

function line(context: Context, points: readonly MapPoint[], isClosed: boolean): void {
  points.forEach(({ x, y }, index) => {
    if (index === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  if (isClosed) context.closePath();
}

function drawMark(context: Context, at: MapPoint, label: string, { accent, text }: Colours): void {
  context.beginPath();
  context.arc(at.x, at.y, MARK_PX, 0, 2 * Math.PI);
  context.fillStyle = accent;
  context.fill();
  drawLabel(context, at, label, text);
}

function drawSelection(context: Context, { x, y }: MapPoint, colour: string): void {
  context.beginPath();
  context.arc(x, y, 2 * MARK_PX, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = 3;
  context.stroke();
}

/** A round length near a fifth of the map's usual width, at the latitude of its middle. */
function drawScale(context: Context, { center, worldPx }: MapView, height: number, colour: string): void {
  const pxPerMetre = worldPx * metreOnMap(latitudeOf(center));
  const metres = roundLength(SCALE_PX / pxPerMetre);
  context.beginPath();
  line(
    context,
    [
      { x: 12, y: height - 18 },
      { x: 12, y: height - 12 },
      { x: 12 + metres * pxPerMetre, y: height - 12 },
      { x: 12 + metres * pxPerMetre, y: height - 18 },
    ],
    false,
  );
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.stroke();
  const label = metres < 1_000 ? `${String(metres)} m` : `${String(metres / 1_000)} km`;
  drawLabel(context, { x: 12, y: height - 16 }, label, colour);
}

function drawLabel(context: Context, { x, y }: MapPoint, label: string, colour: string): void {
  context.font = '12px system-ui, sans-serif';
  context.fillStyle = colour;
  context.fillText(label, x + 2 * MARK_PX, y - MARK_PX);
}
