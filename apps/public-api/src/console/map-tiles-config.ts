import { z } from 'zod';
import { parseUrl } from '@waypost/egress';
import { withDefault } from '@waypost/platform';

/** Raster tiles below the maps of the console. */
export interface MapTiles {
  /** With `{z}`, `{x}` and `{y}`. */
  readonly url: string;
  /** The only one besides its own from which the console may load images. */
  readonly origin: string;
  readonly attribution: string;
}

/**
 * The host is checked more strictly than URLs are: it gets into a content security policy, where `*` would be every host and `;`
 * another rule.
 */
const TEMPLATE =
  /^(https?:\/\/(?:[a-z0-9-]+\.)*[a-z0-9-]+(?::\d{1,5})?)(\/[^\s"'<>\\{}]*(?:\{[xyz]\}[^\s"'<>\\{}]*){3})$/;
const MAX_ATTRIBUTION = 200;

/** null: maps have no tiles. Those who made them are named wherever they are shown, so neither is set without the other. */
export const mapTilesConfig: z.ZodType<MapTiles | null> = z
  .object({
    WAYPOST_MAP_TILE_URL: withDefault(
      asTemplate,
      'an http or https URL with {z}, {x} and {y} once each in its path or query, such as https://tiles.example.com/{z}/{x}/{y}.png, or unset for maps without tiles',
      undefined,
    ),
    WAYPOST_MAP_ATTRIBUTION: withDefault(
      (text) => (text.length <= MAX_ATTRIBUTION ? text : undefined),
      `a text of at most ${String(MAX_ATTRIBUTION)} characters that names the source of the tiles`,
      undefined,
    ),
  })
  .transform(({ WAYPOST_MAP_TILE_URL: template, WAYPOST_MAP_ATTRIBUTION: attribution }, ctx) => {
    if (template === undefined && attribution === undefined) return null;
    if (template !== undefined && attribution !== undefined) return { ...template, attribution };
    const missing = template === undefined ? 'WAYPOST_MAP_TILE_URL' : 'WAYPOST_MAP_ATTRIBUTION';
    ctx.addIssue({
      code: 'custom',
      path: [missing],
      message: 'is missing: the URL of map tiles and their attribution are set together or not at all',
    });
    return z.NEVER;
  });

function asTemplate(text: string): Pick<MapTiles, 'url' | 'origin'> | undefined {
  const [url, origin] = TEMPLATE.exec(text) ?? [];
  if (url === undefined || origin === undefined) return undefined;
  const isComplete = ['{x}', '{y}', '{z}'].every((slot) => url.includes(slot));
  // A port that there is not, or an address that browsers write in another way, would not be what the policy allows.
  return isComplete && parseUrl(origin)?.origin === origin ? { url, origin } : undefined;
}
