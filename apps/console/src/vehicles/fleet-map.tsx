import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { type GeofenceDraft, handlesOf, withClick, withHandle } from './geofence-draft.js';
import { drawMap, type MapContent } from './map-drawing.js';
import { fit, fromScreen, type MapPoint, type MapView, pan, type Place, project, toScreen, zoom } from './mercator.js';

const STEP = 1.5;
const WITHIN_PX = 20;
/** A hand is not quite still when it clicks. */
const CLICK_PX = 4;
const KEY_PX = 60;

interface FleetMapProps extends Omit<MapContent, 'draft'> {
  /** For those who do not see it; the page has the same as text. */
  readonly label: string;
  /** What is in sight at first; otherwise the path, or the marks. */
  readonly focus?: readonly Place[];
  /** The index of the path's point, or of the mark where there is no path, that the reader points at; -1: none. */
  readonly onPoint?: (index: number) => void;
  /** A geofence that is drawn: a click adds to it, and its handles can be dragged. */
  readonly editing?: { readonly draft: GeofenceDraft; readonly onChange: (draft: GeofenceDraft) => void };
}

interface Drag {
  readonly from: MapPoint;
  readonly last: MapPoint;
  /** The handle of the draft; -1: the map is dragged. */
  readonly handle: number;
}

/** A map without tiles: it needs no other server, and shows nothing to one. */
export function FleetMap({ label, focus, onPoint, editing, ...content }: FleetMapProps) {
  const { geofences, path, marks, selected } = content;
  const draft = editing?.draft ?? null;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [moved, setMoved] = useState<MapView | null>(null);
  const size = useSize(canvas);
  const { width, height } = size;
  const places = path.length > 0 ? path : marks;
  const points = useMemo(() => places.map(project), [places]);
  const fitted = useMemo(() => fit(focus?.map(project) ?? points, width, height), [focus, points, width, height]);
  const view = moved ?? fitted;

  useEffect(() => {
    if (canvas.current) drawMap(canvas.current, view, { geofences, path, marks, selected, draft });
  }, [view, size, geofences, path, marks, selected, draft]);

  function change(factor: number, at = { x: width / 2, y: height / 2 }): void {
    setMoved(zoom(view, factor, at, width, height));
  }

  const pointer = usePointer({ view, size, points, editing, onPoint, setMoved });

  function press(event: KeyboardEvent): void {
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    if (event.key === '+' || event.key === '=') change(STEP);
    else if (event.key === '-') change(1 / STEP);
    else if (dx !== 0 || dy !== 0) setMoved(pan(view, dx, dy));
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
          if (!editing) change(STEP, placeIn(event));
        }}
      />
      <div className="map-buttons">
        <button type="button" aria-label="Zoom in" onClick={() => change(STEP)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => change(1 / STEP)}>
          −
        </button>
        <button type="button" onClick={() => setMoved(null)}>
          Fit
        </button>
      </div>
    </div>
  );
}

interface PointerProps {
  readonly view: MapView;
  readonly size: Size;
  readonly points: readonly MapPoint[];
  readonly editing: FleetMapProps['editing'];
  readonly onPoint: FleetMapProps['onPoint'];
  readonly setMoved: (view: MapView) => void;
}

/** Drags the map or a handle of the draft, adds to the draft by a click, and else points at what is near. */
function usePointer({ view, size: { width, height }, points, editing, onPoint, setMoved }: PointerProps) {
  const drag = useRef<Drag | null>(null);
  const onScreen = (point: MapPoint): MapPoint => toScreen(point, view, width, height);
  const onMap = (point: MapPoint): MapPoint => fromScreen(point, view, width, height);

  function begin(event: PointerEvent): void {
    const at = placeIn(event);
    const handle = editing === undefined ? -1 : nearest(handlesOf(editing.draft).map(onScreen), at);
    drag.current = { from: at, last: at, handle };
    event.currentTarget.setPointerCapture(event.pointerId);
  }

  function move(event: PointerEvent): void {
    const at = placeIn(event);
    if (!drag.current) {
      onPoint?.(nearest(points.map(onScreen), at));
      return;
    }
    const { from, last, handle } = drag.current;
    if (handle >= 0 && editing) editing.onChange(withHandle(editing.draft, handle, onMap(at)));
    else if (!isClick(from, at) || !isClick(from, last)) setMoved(pan(view, at.x - last.x, at.y - last.y));
    drag.current = { from, last: at, handle };
  }

  function end(event: PointerEvent): void {
    const at = placeIn(event);
    if (drag.current?.handle === -1 && isClick(drag.current.from, at))
      editing?.onChange(withClick(editing.draft, onMap(at)));
    drag.current = null;
  }

  return {
    onPointerDown: begin,
    onPointerMove: move,
    onPointerUp: end,
    onPointerLeave: () => onPoint?.(-1),
  };
}

/** Moves what is seen, as a map does: to the right, it goes to the left. */
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [KEY_PX, 0],
  ArrowRight: [-KEY_PX, 0],
  ArrowUp: [0, KEY_PX],
  ArrowDown: [0, -KEY_PX],
};

interface Size {
  readonly width: number;
  readonly height: number;
}

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

function placeIn({ nativeEvent }: { readonly nativeEvent: MouseEvent }): MapPoint {
  return { x: nativeEvent.offsetX, y: nativeEvent.offsetY };
}

function isClick(from: MapPoint, to: MapPoint): boolean {
  return Math.hypot(to.x - from.x, to.y - from.y) <= CLICK_PX;
}

function nearest(points: readonly MapPoint[], { x, y }: MapPoint): number {
  let [found, distance] = [-1, WITHIN_PX];
  points.forEach((point, index) => {
    const far = Math.hypot(point.x - x, point.y - y);
    if (far < distance) [found, distance] = [index, far];
  });
  return found;
}
