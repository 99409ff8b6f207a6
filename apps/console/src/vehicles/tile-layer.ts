import type { Size } from './map-pointer.js';
import { fromScreen, type MapView } from './mercator.js';

const TILE_PX = 256;
/** What most servers of tiles have. */
const MAX_ZOOM = 19;
/** Some screens full; the browser keeps what it has loaded as well. */
const KEPT = 256;
const AGAIN_AFTER_MS = 10_000;

/** A tile, and where it is drawn. */
interface PlacedTile {
  readonly zoom: number;
  readonly column: number;
  readonly row: number;
  readonly x: number;
  readonly y: number;
  readonly sidePx: number;
}

/** The tiles that cover what is seen, at most a third smaller or larger than they are. */
export function tilesOf(view: MapView, { width, height }: Size): readonly PlacedTile[] {
  const zoom = Math.min(MAX_ZOOM, Math.max(0, Math.round(Math.log2(view.worldPx / TILE_PX))));
  const count = 2 ** zoom;
  const sidePx = view.worldPx / count;
  const [from, to] = [
    { x: 0, y: 0 },
    { x: width, y: height },
  ].map((corner) => fromScreen(corner, view, width, height));
  const range = (first = 0, last = 0): number[] => {
    const [begin, end] = [Math.max(0, Math.floor(first * count)), Math.min(count - 1, Math.floor(last * count))];
    return Array.from({ length: Math.max(0, end - begin + 1) }, (_, index) => begin + index);
  };
  return range(from?.y, to?.y).flatMap((row) =>
    range(from?.x, to?.x).map((column) => ({
      zoom,
      column,
      row,
      x: column * sidePx - (view.center.x * view.worldPx - width / 2),
      y: row * sidePx - (view.center.y * view.worldPx - height / 2),
      sidePx,
    })),
  );
}

export interface TileLayer {
  draw(context: CanvasRenderingContext2D, view: MapView, size: Size): void;
}

interface TileSource {
  /** With `{z}`, `{x}` and `{y}`. */
  readonly template: string;
  /** Called once per frame, however many tiles have come. */
  readonly onLoaded: () => void;
  readonly createImage: () => HTMLImageElement;
  readonly nowMs: () => number;
  /** Calls back before the browser draws next. */
  readonly requestFrame: (draw: () => void) => void;
}

/** A tile that does not load leaves its place empty, as the map works without, and is asked for again when the map is drawn later. */
export function createTileLayer({ template, onLoaded, createImage, nowMs, requestFrame }: TileSource): TileLayer {
  // The oldest first.
  const images = new Map<string, HTMLImageElement>();
  const failedAtMs = new WeakMap<HTMLImageElement, number>();
  let isDue = false;

  function drawSoon(): void {
    if (isDue) return;
    isDue = true;
    requestFrame(() => {
      isDue = false;
      onLoaded();
    });
  }

  function known(url: string): HTMLImageElement | undefined {
    const image = images.get(url);
    const failed = image && failedAtMs.get(image);
    return failed !== undefined && nowMs() - failed >= AGAIN_AFTER_MS ? undefined : image;
  }

  function load(url: string): HTMLImageElement {
    const image = createImage();
    image.onload = drawSoon;
    image.onerror = () => void failedAtMs.set(image, nowMs());
    // Tile servers refuse requests without one. The path of a portal has the id of the session: it stays here.
    image.referrerPolicy = 'origin';
    image.src = url;
    return image;
  }

  function imageOf({ zoom, column, row }: PlacedTile): HTMLImageElement {
    const [z, x, y] = [zoom, column, row].map(String);
    const url = template
      .replace('{z}', z ?? '')
      .replace('{x}', x ?? '')
      .replace('{y}', y ?? '');
    const image = known(url) ?? load(url);
    images.delete(url);
    images.set(url, image);
    return image;
  }

  return {
    draw(context, view, size) {
      for (const tile of tilesOf(view, size)) {
        const image = imageOf(tile);
        // The neighbors meet at whole pixels: between them would be a line.
        const [left, top] = [Math.round(tile.x), Math.round(tile.y)];
        const [right, bottom] = [Math.round(tile.x + tile.sidePx), Math.round(tile.y + tile.sidePx)];
        if (image.complete && image.naturalWidth > 0) context.drawImage(image, left, top, right - left, bottom - top);
      }
      for (const url of [...images.keys()].slice(0, Math.max(0, images.size - KEPT))) images.delete(url);
    },
  };
}
