import type { Size } from './map-pointer.js';
import { fromScreen, type MapView } from './mercator.js';

const TILE_PX = 256;
/** What most servers of tiles have. */
const MOST_ZOOM = 19;
/** Some screens full; the browser keeps what it has loaded, too. */
const KEPT = 256;

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
  const zoom = Math.min(MOST_ZOOM, Math.max(0, Math.round(Math.log2(view.worldPx / TILE_PX))));
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

/** Tiles by a template with `{z}`, `{x}` and `{y}`. One that does not load leaves its place empty: the map works without. */
export function createTileLayer(template: string, onLoaded: () => void): TileLayer {
  // The oldest first.
  const images = new Map<string, HTMLImageElement>();

  function imageOf({ zoom, column, row }: PlacedTile): HTMLImageElement {
    const [z, x, y] = [zoom, column, row].map(String);
    const url = template
      .replace('{z}', z ?? '')
      .replace('{x}', x ?? '')
      .replace('{y}', y ?? '');
    const image = images.get(url) ?? new Image();
    images.delete(url);
    images.set(url, image);
    if (image.src !== '') return image;
    image.onload = onLoaded;
    image.src = url;
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
