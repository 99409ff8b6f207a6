import { useEffect, useState } from 'react';
import { useSession } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import type { TileLayer } from './tile-layer.js';

interface Tiles {
  /** null: there are none, or not yet. */
  readonly layer: TileLayer | null;
  /** Changes when tiles have come. */
  readonly loaded: number;
  /** Who made them. */
  readonly attribution: string | null;
}

/** The tiles that the operator has configured, with the code for them, which nothing else needs. */
export function useTiles(): Tiles {
  const { url = null, attribution = null } = useSession().info?.mapTiles ?? {};
  const [layer, setLayer] = useState<TileLayer | null>(null);
  const [loaded, setLoaded] = useState(0);
  useEffect(() => {
    if (url === null) return;
    let isGone = false;
    const add = () => {
      if (!isGone) setLoaded((count) => count + 1);
    };
    import('./tile-layer.js').then(
      ({ createTileLayer }) => {
        if (isGone) return;
        const createImage = (): HTMLImageElement => new Image();
        const requestFrame = (draw: () => void): void => void requestAnimationFrame(draw);
        setLayer(createTileLayer({ template: url, onLoaded: add, createImage, nowMs, requestFrame }));
      },
      // As after an update of the service. The map works without.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [url]);
  return { layer, loaded, attribution: layer === null ? null : attribution };
}
