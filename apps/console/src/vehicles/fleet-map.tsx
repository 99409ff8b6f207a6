import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { decimalsOf, latitudeText, longitudeText } from './graticule.js';
import { drawMap, type MapContent } from './map-drawing.js';
import { type Editing, placeIn, type Size, useMapPointer, useWheelZoom } from './map-pointer.js';
import { fit, type MapPoint, type MapView, pan, type Place, placeOf, project, zoom } from './mercator.js';
import { useTiles } from './use-tiles.js';

const STEP = 1.5;
const KEY_PX = 60;
/** Of degrees: a tenth of a meter. */
const MAX_DECIMALS = 6;

interface FleetMapProps extends Omit<MapContent, 'draft'> {
  /** For those who do not see it; the page has the same as text. */
  readonly label: string;
  /** What is in sight at first; otherwise the path, or the marks. */
  readonly focus?: readonly Place[];
  /** The index of the path's point, or of the mark where there is no path, that the reader points at; -1: none. */
  readonly onPoint?: (index: number) => void;
  readonly editing?: Editing;
}

/** Without tiles, which an operator has to ask for, a map needs no other server, and shows nothing to one. */
export function FleetMap({ label, focus, onPoint, editing, ...content }: FleetMapProps) {
  const { geofences, path, marks, selected } = content;
  const draft = editing?.draft ?? null;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointedAt, setPointedAt] = useState<MapPoint | null>(null);
  const size = useSize(canvas);
  const { width, height } = size;
  const places = path.length > 0 ? path : marks;
  const points = useMemo(() => places.map(project), [places]);
  const fitted = useMemo(() => fit(focus?.map(project) ?? points, width, height), [focus, points, width, height]);
  const { view, changeView, reset } = useMovedView(fitted);

  const attribution = useDrawing(canvas, view, size, { geofences, path, marks, selected, draft });

  function zoomBy(factor: number, at = { x: width / 2, y: height / 2 }): void {
    changeView((before) => zoom(before, factor, at, width, height));
  }

  const pointer = useMapPointer({ view, size, points, editing, onPoint, onPlace: setPointedAt, changeView });
  useWheelZoom(canvas, size, changeView);

  function press(event: KeyboardEvent): void {
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    if (event.key === '+' || event.key === '=') zoomBy(STEP);
    else if (event.key === '-') zoomBy(1 / STEP);
    else if (dx !== 0 || dy !== 0) changeView((before) => pan(before, dx, dy));
    else return;
    event.preventDefault();
  }

  return (
    <div className="map">
      <canvas
        ref={canvas}
        role="img"
        tabIndex={0}
        aria-label={label}
        className={editing ? 'drawing' : ''}
        {...pointer}
        onKeyDown={press}
        onDoubleClick={(event) => {
          if (!editing) zoomBy(STEP, placeIn(event));
        }}
      />
      <PlaceText view={view} point={pointedAt} />
      <p className="map-tap hint" aria-hidden="true">
        Tap the map to move it
      </p>
      {attribution !== null && <p className="map-makers hint">{attribution}</p>}
      <div className="map-buttons">
        <button type="button" aria-label="Zoom in" onClick={() => zoomBy(STEP)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoomBy(1 / STEP)}>
          −
        </button>
        <button type="button" onClick={reset}>
          Fit
        </button>
      </div>
    </div>
  );
}

/** Draws what has changed; returns who made the tiles, if there are any. */
function useDrawing(
  canvas: RefObject<HTMLCanvasElement | null>,
  view: MapView,
  size: Size,
  { geofences, path, marks, selected, draft }: MapContent,
): string | null {
  const { layer, loaded, attribution } = useTiles();
  useEffect(() => {
    if (canvas.current) drawMap(canvas.current, view, { geofences, path, marks, selected, draft }, layer);
  }, [canvas, view, size, geofences, path, marks, selected, draft, layer, loaded]);
  return attribution;
}

/** The view until it is moved, and then where it was moved to. */
function useMovedView(fitted: MapView) {
  const [moved, setMoved] = useState<MapView | null>(null);
  // Several movements may come before one is drawn: each changes what the one before it has left.
  const changeView = useCallback(
    (change: (view: MapView) => MapView) => setMoved((before) => change(before ?? fitted)),
    [fitted],
  );
  return { view: moved ?? fitted, changeView, reset: () => setMoved(null) };
}

/** Moves what is seen, as a map does: to the right, it goes to the left. */
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [KEY_PX, 0],
  ArrowRight: [-KEY_PX, 0],
  ArrowUp: [0, KEY_PX],
  ArrowDown: [0, -KEY_PX],
};

function useSize(canvas: RefObject<HTMLCanvasElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 1, height: 1 });
  useEffect(() => {
    if (!canvas.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setSize(entry.contentRect);
    });
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, [canvas]);
  return size;
}

function PlaceText({ view: { center, worldPx }, point }: { readonly view: MapView; readonly point: MapPoint | null }) {
  const { latitude, longitude } = placeOf(point ?? center);
  const decimals = Math.min(MAX_DECIMALS, decimalsOf(360 / worldPx));
  return (
    <p className="map-place hint">
      {point === null && 'Middle: '}
      {latitudeText(latitude, decimals)}, {longitudeText(longitude, decimals)}
    </p>
  );
}
