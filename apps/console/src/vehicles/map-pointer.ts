import { type PointerEvent, type RefObject, useEffect, useRef } from 'react';
import { type GeofenceDraft, handlesOf, withClick, withHandle } from './geofence-draft.js';
import { fromScreen, type MapPoint, type MapView, pan, pinch, toScreen, zoom } from './mercator.js';

/** A hand is not quite still when it clicks. */
const CLICK_PX = 4;
const WITHIN_PX = 20;
/** Of a wheel, in pixels, and the most by which one event of it zooms. */
const WHEEL_PX = 200;
const WHEEL_LINE_PX = 16;
const MAX_BY_WHEEL = 2;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A geofence that is drawn: a click adds to it, and its handles can be dragged. */
export interface Editing {
  readonly draft: GeofenceDraft;
  readonly onChange: (draft: GeofenceDraft) => void;
}

export interface MapPointerProps {
  readonly view: MapView;
  readonly size: Size;
  /** What can be pointed at. */
  readonly points: readonly MapPoint[];
  readonly editing: Editing | undefined;
  /** The index of the point that is pointed at; -1: none. */
  readonly onPoint: ((index: number) => void) | undefined;
  /** What of the map is under the pointer; null: it is elsewhere. */
  readonly onPlace: (point: MapPoint | null) => void;
  readonly changeView: (change: (view: MapView) => MapView) => void;
}

interface Drag {
  readonly from: MapPoint;
  readonly last: MapPoint;
  /** The handle of the draft; -1: the map is dragged. */
  readonly handle: number;
  /** Before anything was dragged. */
  readonly view: MapView;
}

/**
 * Drags the map or a handle of the draft, adds to the draft by a click, and else points at what is near. Two fingers move
 * and zoom the map.
 */
export function useMapPointer({ view, size, points, editing, onPoint, onPlace, changeView }: MapPointerProps) {
  const { width, height } = size;
  const drag = useRef<Drag | null>(null);
  const fingers = useRef(new Map<number, MapPoint>());
  const onScreen = (point: MapPoint): MapPoint => toScreen(point, view, width, height);
  const onMap = (point: MapPoint): MapPoint => fromScreen(point, view, width, height);

  function begin(event: PointerEvent): void {
    const at = placeIn(event);
    const handle = editing === undefined ? -1 : nearest(handlesOf(editing.draft).map(onScreen), at);
    fingers.current.set(event.pointerId, at);
    // The second finger makes of a drag, which might have been a click, a pinch.
    drag.current = fingers.current.size === 1 ? { from: at, last: at, handle, view } : null;
    event.currentTarget.setPointerCapture(event.pointerId);
  }

  function move(event: PointerEvent): void {
    const at = placeIn(event);
    onPlace(onMap(at));
    const before = [...fingers.current.values()];
    if (fingers.current.has(event.pointerId)) fingers.current.set(event.pointerId, at);
    const now = [...fingers.current.values()];
    if (now.length > 1) changeView((from) => pinch(from, before, now, size));
    else if (drag.current) dragTo(at, drag.current);
    else onPoint?.(nearest(points.map(onScreen), at));
  }

  function dragTo(at: MapPoint, { last, ...begun }: Drag): void {
    const { from, handle } = begun;
    if (handle >= 0 && editing) editing.onChange(withHandle(editing.draft, handle, onMap(at)));
    else if (!isClick(from, at) || !isClick(from, last)) changeView((was) => pan(was, at.x - last.x, at.y - last.y));
    drag.current = { ...begun, last: at };
  }

  function end(event: PointerEvent<HTMLElement>): void {
    const at = placeIn(event);
    if (drag.current && isClick(drag.current.from, at)) {
      // From then on a finger moves the map, and not the page.
      event.currentTarget.focus({ preventScroll: true });
      if (drag.current.handle === -1) editing?.onChange(withClick(editing.draft, onMap(at)));
    }
    release(event);
  }

  /** By the browser, when it finds that a finger scrolls the page: the first of its way has moved the map. */
  function cancel(event: PointerEvent): void {
    const { view: before, handle } = drag.current ?? {};
    if (before && handle === -1) changeView(() => before);
    onPlace(null);
    release(event);
  }

  function release({ pointerId }: PointerEvent): void {
    fingers.current.delete(pointerId);
    drag.current = null;
  }

  return {
    onPointerDown: begin,
    onPointerMove: move,
    onPointerUp: end,
    onPointerCancel: cancel,
    onPointerLeave: () => {
      onPoint?.(-1);
      onPlace(null);
    },
  };
}

/** Zooms by a wheel with Ctrl, as which browsers show a pinch on a touchpad as well. Without it the page scrolls. */
export function useWheelZoom(
  canvas: RefObject<HTMLCanvasElement | null>,
  { width, height }: Size,
  changeView: MapPointerProps['changeView'],
): void {
  useEffect(() => {
    const element = canvas.current;
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const turnedPx = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * WHEEL_LINE_PX;
      const factor = Math.min(MAX_BY_WHEEL, Math.max(1 / MAX_BY_WHEEL, Math.exp(-turnedPx / WHEEL_PX)));
      changeView((view) => zoom(view, factor, { x: event.offsetX, y: event.offsetY }, width, height));
    };
    // React listens passively, and so could not keep the page from being zoomed.
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  }, [canvas, width, height, changeView]);
}

export function placeIn({ nativeEvent }: { readonly nativeEvent: MouseEvent }): MapPoint {
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
