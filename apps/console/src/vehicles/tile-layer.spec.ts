import { describe, expect, it } from '@jest/globals';
import { createTileLayer, tilesOf } from './tile-layer.js';

const WORLD = { center: { x: 0.5, y: 0.5 }, worldPx: 256 };

function numbersOf(worldPx: number, center: { x: number; y: number }, size = { width: 256, height: 256 }): string[] {
  return tilesOf({ center, worldPx }, size).map(({ zoom, column, row }) => [zoom, column, row].join('/'));
}

describe('the tiles of a map', () => {
  it('are one for the whole world, which is not repeated beside it', () => {
    expect(tilesOf(WORLD, { width: 256, height: 256 })).toEqual([
      { zoom: 0, column: 0, row: 0, x: 0, y: 0, sidePx: 256 },
    ]);
    expect(numbersOf(256, { x: 0.5, y: 0.5 }, { width: 2_000, height: 900 })).toEqual(['0/0/0']);
    expect(numbersOf(256, { x: 5, y: 0.5 })).toEqual([]);
  });

  it('cover what is seen', () => {
    // The middle of Magdeburg: 11.63° E, 52.13° N.
    expect(numbersOf(256 * 2 ** 12, { x: 0.532306, y: 0.328955 }, { width: 512, height: 300 })).toEqual([
      ...['12/2179/1346', '12/2180/1346', '12/2181/1346'],
      ...['12/2179/1347', '12/2180/1347', '12/2181/1347'],
    ]);
  });

  it('are drawn at the size that is nearest to their own, and larger where there are no finer ones', () => {
    const sides = [300, 500, 1_000].map(
      (worldPx) => tilesOf({ ...WORLD, worldPx }, { width: 9, height: 9 })[0]?.sidePx,
    );
    expect(sides).toEqual([300, 250, 250]);
    const [finest] = tilesOf({ ...WORLD, worldPx: 256 * 2 ** 21 }, { width: 9, height: 9 });
    expect([finest?.zoom, finest?.sidePx]).toEqual([19, 1_024]);
  });
});

describe('a tile', () => {
  const SIZE = { width: 512, height: 512 };

  function layerOf() {
    const images: HTMLImageElement[] = [];
    const frames: (() => void)[] = [];
    const at = { ms: 0 };
    let redrawn = 0;
    const layer = createTileLayer({
      template: 'https://tiles.example.com/{z}/{x}/{y}',
      onLoaded: () => void (redrawn += 1),
      createImage() {
        const image = { complete: false, naturalWidth: 0 } as HTMLImageElement;
        images.push(image);
        return image;
      },
      nowMs: () => at.ms,
      requestFrame: (draw) => void frames.push(draw),
    });
    return {
      images,
      at,
      draw: (worldPx: number) => layer.draw({} as CanvasRenderingContext2D, { ...WORLD, worldPx }, SIZE),
      passFrame: () => {
        for (const draw of frames.splice(0)) draw();
        return redrawn;
      },
    };
  }

  it('that did not load is asked for again 10 s later, and one that did is not', () => {
    const { images, at, draw } = layerOf();
    draw(256);
    draw(256);
    expect(images.map(({ src }) => src)).toEqual(['https://tiles.example.com/0/0/0']);
    images[0]?.onerror?.('');
    at.ms = 9_999;
    draw(256);
    expect(images).toHaveLength(1);
    at.ms = 10_000;
    draw(256);
    expect(images.map(({ src }) => src)).toEqual(Array(2).fill('https://tiles.example.com/0/0/0'));
    images[1]?.onload?.({} as Event);
    at.ms = 60_000;
    draw(256);
    expect(images).toHaveLength(2);
  });

  it('has the map drawn again, together with those that come before the next frame', () => {
    const { images, draw, passFrame } = layerOf();
    draw(512);
    expect(images).toHaveLength(4);
    const [last, ...first] = images;
    for (const image of first) image.onload?.({} as Event);
    expect([passFrame(), passFrame()]).toEqual([1, 1]);
    last?.onload?.({} as Event);
    expect(passFrame()).toBe(2);
  });
});
