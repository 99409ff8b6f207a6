import type { MapTiles } from './map-tiles-config.js';

/** What a fleet allows its portal. */
export interface PortalPage {
  /** Origins. Empty: none. */
  readonly frameAncestors: readonly string[];
  readonly logoUrl: string | null;
}

/**
 * Nothing but the console's own files runs or is loaded, and nothing sends what it shows anywhere else. Event payloads come
 * from others: if one of them got into the page as markup, it could still do nothing.
 *
 * @param portal null: the console itself, which no page may frame
 * @param tiles null: its maps have none
 */
export function consoleHeaders(
  portal: PortalPage | null,
  tiles: Pick<MapTiles, 'origin'> | null,
): Readonly<Record<string, string>> {
  const { frameAncestors = [], logoUrl = null } = portal ?? {};
  const images = [
    "'self'",
    ...(logoUrl === null ? [] : [imageSource(logoUrl)]),
    ...(tiles === null ? [] : [tiles.origin]),
  ];
  const isFramed = frameAncestors.length > 0;
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `img-src ${images.join(' ')}`,
      "font-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      `frame-ancestors ${isFramed ? frameAncestors.join(' ') : "'none'"}`,
      "require-trusted-types-for 'script'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    // Knows no list of origins; where it is absent, frame-ancestors alone decides.
    ...(isFramed ? {} : { 'x-frame-options': 'DENY' }),
  };
}

function imageSource(logoUrl: string): string {
  return logoUrl.startsWith('data:') ? 'data:' : new URL(logoUrl).origin;
}
