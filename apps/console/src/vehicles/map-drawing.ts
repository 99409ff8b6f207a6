import type { Geofence } from '@waypost/client';
import { colorsOf } from '../shared/colors.js';
import { type GeofenceDraft, handlesOf, shapeOf } from './geofence-draft.js';
import { drawGraticule } from './graticule-drawing.js';
import { type MapLabel, readable, shortened } from './map-labels.js';
import {
  latitudeOf,
  type MapPoint,
  type MapView,
  meterOnMap,
  type Place,
  placeOf,
  project,
  roundLength,
  toScreen,
} from './mercator.js';
import { dashesOf } from './outline.js';
import type { TileLayer } from './tile-layer.js';

export interface MapMark extends Place {
  readonly label: string;
  /** Degrees from true north, of a vehicle that moves; null: it stands, or nothing says where to. */
  readonly heading?: number | null;
}

export interface MapContent {
  readonly geofences: readonly Geofence[];
  readonly path: readonly Place[];
  readonly marks: readonly MapMark[];
  /** The point of the path or the marks that the reader points at. */
  readonly selected: Place | null;
  /** The geofence that is drawn; the others lie behind it. */
  readonly draft: GeofenceDraft | null;
}

const COLORS = ['accent', 'accent-tint', 'faint', 'grid', 'neutral-tint', 'surface', 'text', 'bad'] as const;

type Colors = Readonly<Record<(typeof COLORS)[number], string>>;

type Context = CanvasRenderingContext2D;
type Screen = (place: Place) => MapPoint;

const MARK_PX = 4;
const HANDLE_PX = 6;
const SCALE_PX = 160;
const FONT = '12px "Inter Variable", system-ui, sans-serif';
/** Points north. */
const ARROW: readonly MapPoint[] = [
  { x: 0, y: -8 },
  { x: 5, y: 6 },
  { x: 0, y: 3 },
  { x: -5, y: 6 },
];

/** Draws everything: tiles, the graticule and geofences lie under the path, marks above it. */
export function drawMap(canvas: HTMLCanvasElement, view: MapView, content: MapContent, tiles: TileLayer | null): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = height * scale;
  context.scale(scale, scale);
  const screen: Screen = (place) => toScreen(project(place), view, width, height);
  const colors = colorsOf(canvas, COLORS);
  tiles?.draw(context, view, { width, height });
  drawGraticule(context, view, { width, height }, colors);
  const [line, fill] = [colors.faint, colors['neutral-tint']];
  for (const { shape } of content.geofences) drawShape(context, shape, view, screen, { line, fill });
  if (content.draft) drawDraft(context, content.draft, view, screen, colors);
  drawPath(context, content.path, screen, colors.accent);
  for (const mark of content.marks) drawMark(context, screen(mark), mark, colors);
  drawLabels(context, labelsOf(content, screen), colors);
  drawScale(context, view, height, colors);
  if (content.selected) drawSelection(context, screen(content.selected), colors.bad);
}

type Shape = Geofence['shape'];

interface ShapeColors {
  readonly line: string;
  readonly fill: string;
}

function drawShape(context: Context, shape: Shape, view: MapView, screen: Screen, { line, fill }: ShapeColors): void {
  context.beginPath();
  if (shape.type === 'circle') {
    const { x, y } = screen(shape.center);
    context.arc(x, y, shape.radiusInMeters * meterOnMap(shape.center.latitude) * view.worldPx, 0, 2 * Math.PI);
  } else
    for (const ring of shape.coordinates)
      trace(
        context,
        ring.map(([longitude = 0, latitude = 0]) => screen({ latitude, longitude })),
        true,
      );
  context.globalAlpha = 0.6;
  context.fillStyle = fill;
  // A hole is not filled.
  context.fill('evenodd');
  context.globalAlpha = 1;
  context.strokeStyle = line;
  context.setLineDash([...dashesOf(shape, view)]);
  context.lineWidth = 1.5;
  context.stroke();
  context.setLineDash([]);
}

function drawDraft(context: Context, draft: GeofenceDraft, view: MapView, screen: Screen, colors: Colors): void {
  const shape = shapeOf(draft);
  if (shape) drawShape(context, shape, view, screen, { line: colors.accent, fill: colors['accent-tint'] });
  else if (draft.type === 'polygon') drawPath(context, draft.corners, screen, colors.accent);
  for (const handle of handlesOf(draft)) {
    const { x, y } = screen(placeOf(handle));
    context.beginPath();
    context.arc(x, y, HANDLE_PX, 0, 2 * Math.PI);
    context.fillStyle = colors.surface;
    context.fill();
    context.strokeStyle = colors.accent;
    context.lineWidth = 2;
    context.stroke();
  }
}

/** Those of marks come first: geofences are named beside the map as well. */
function labelsOf({ marks, geofences }: MapContent, screen: Screen): MapLabel[] {
  const beside = (place: Place, text: string): MapLabel => {
    const { x, y } = screen(place);
    return { text: shortened(text), x: x + 2 * MARK_PX, endX: x - 2 * MARK_PX, y: y - MARK_PX };
  };
  return [
    ...marks.map((mark) => beside(mark, mark.label)),
    ...geofences.map(({ name, shape }) => beside(anchorOf(shape), name)),
  ];
}

function anchorOf(shape: Shape): Place {
  if (shape.type === 'circle') return shape.center;
  const [longitude = 0, latitude = 0] = shape.coordinates[0]?.[0] ?? [];
  return { latitude, longitude };
}

function drawLabels(context: Context, labels: readonly MapLabel[], { surface, text: color }: Colors): void {
  context.font = FONT;
  context.lineJoin = 'round';
  for (const { text, x, y } of readable(
    labels,
    (some) => context.measureText(some).width,
    context.canvas.clientWidth,
  )) {
    // A line under it must not cross it out.
    context.strokeStyle = surface;
    context.lineWidth = 3;
    context.strokeText(text, x, y);
    context.fillStyle = color;
    context.fillText(text, x, y);
  }
}

function drawPath(context: Context, path: readonly Place[], screen: Screen, color: string): void {
  context.beginPath();
  trace(context, path.map(screen), false);
  context.strokeStyle = color;
  context.lineWidth = 2.5;
  context.lineJoin = 'round';
  context.stroke();
}

function trace(context: Context, points: readonly MapPoint[], isClosed: boolean): void {
  points.forEach(({ x, y }, index) => {
    if (index === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  if (isClosed) context.closePath();
}

/** An arrow where a vehicle moves to, a point where it stands or something happened. */
function drawMark(context: Context, { x, y }: MapPoint, { heading = null }: MapMark, { accent }: Colors): void {
  context.save();
  context.translate(x, y);
  context.beginPath();
  if (heading === null) context.arc(0, 0, MARK_PX, 0, 2 * Math.PI);
  else {
    context.rotate((heading * Math.PI) / 180);
    trace(context, ARROW, true);
  }
  context.fillStyle = accent;
  context.fill();
  context.restore();
}

function drawSelection(context: Context, { x, y }: MapPoint, color: string): void {
  context.beginPath();
  context.arc(x, y, 2 * MARK_PX, 0, 2 * Math.PI);
  context.strokeStyle = color;
  context.lineWidth = 3;
  context.stroke();
}

/** A round length near a fifth of the map's usual width, at the latitude of its middle. */
function drawScale(context: Context, { center, worldPx }: MapView, height: number, colors: Colors): void {
  const pxPerMeter = worldPx * meterOnMap(latitudeOf(center));
  const meters = roundLength(SCALE_PX / pxPerMeter);
  context.beginPath();
  trace(
    context,
    [
      { x: 12, y: height - 18 },
      { x: 12, y: height - 12 },
      { x: 12 + meters * pxPerMeter, y: height - 12 },
      { x: 12 + meters * pxPerMeter, y: height - 18 },
    ],
    false,
  );
  context.strokeStyle = colors.text;
  context.lineWidth = 1.5;
  context.stroke();
  const text = meters < 1_000 ? `${String(meters)} m` : `${String(meters / 1_000)} km`;
  drawLabels(context, [{ text, x: 20, y: height - 20 }], colors);
}
