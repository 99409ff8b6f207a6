import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { drawMap, type MapContent } from './map-drawing.js';
import { fit, type MapPoint, type MapView, pan, project, toScreen, zoom } from './mercator.js';

const STEP = 1.5;
const WITHIN_PX = 20;

interface FleetMapProps extends MapContent {
  /** For those who do not see it; the page has the same as text. */
  readonly label: string;
  /** The index of the path's point, or of the mark where there is no path, that the reader points at; -1: none. */
  readonly onPoint: (index: number) => void;
}

/** A map without tiles: it needs no other server, and shows nothing to one. */
export function FleetMap({ label, onPoint, geofences, path, marks, selected }: FleetMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<MapPoint | null>(null);
  const [moved, setMoved] = useState<MapView | null>(null);
  const [size, setSize] = useState({ width: 1, height: 1 });
  const places = path.length > 0 ? path : marks;
  const points = useMemo(() => places.map(project), [places]);
  const fitted = useMemo(() => fit(points, size.width, size.height), [points, size]);
  const view = moved ?? fitted;

  useEffect(() => {
    if (!canvas.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setSize(entry.contentRect);
    });
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (canvas.current) drawMap(canvas.current, view, { geofences, path, marks, selected });
  }, [view, size, geofences, path, marks, selected]);

  function change(factor: number, at = { x: size.width / 2, y: size.height / 2 }): void {
    setMoved(zoom(view, factor, at, size.width, size.height));
  }

  function move({ nativeEvent, buttons }: PointerEvent): void {
    const at = { x: nativeEvent.offsetX, y: nativeEvent.offsetY };
    if (buttons === 1 && drag.current) setMoved(pan(view, at.x - drag.current.x, at.y - drag.current.y));
    else
      onPoint(
        nearest(
          points.map((point) => toScreen(point, view, size.width, size.height)),
          at,
        ),
      );
    drag.current = at;
  }

  return (
    <div className="map">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        onPointerDown={({ nativeEvent }) => (drag.current = { x: nativeEvent.offsetX, y: nativeEvent.offsetY })}
        onPointerMove={move}
        onPointerLeave={() => onPoint(-1)}
        onDoubleClick={({ nativeEvent }) => change(STEP, { x: nativeEvent.offsetX, y: nativeEvent.offsetY })}
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

function nearest(points: readonly MapPoint[], { x, y }: MapPoint): number {
  let [found, distance] = [-1, WITHIN_PX];
  points.forEach((point, index) => {
    const far = Math.hypot(point.x - x, point.y - y);
    if (far < distance) [found, distance] = [index, far];
  });
  return found;
}
