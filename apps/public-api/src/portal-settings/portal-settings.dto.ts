import { z } from 'zod';
import { formatTime } from '@waypost/domain';
import { parseUrl } from '@waypost/egress';
import { COLOR_SCHEMES, type FleetPortal } from '@waypost/management-store';
import { dto } from '../endpoint/dto.js';
import {
  changesSomething,
  dateTime,
  enumText,
  oneOf,
  plainText,
  text,
  unique,
  uuidText,
  version,
} from '../endpoint/fields.js';

const MAX_ANCESTORS = 20;
const MAX_LOGO_URL_LENGTH = 2_048;
/** Characters of a data URL: half of the largest body. */
const MAX_LOGO_LENGTH = 50_000;

/**
 * Origins that go into a header as they are: no wildcard, no path, and nothing that ends a directive. Loopback is for
 * developers.
 */
const FRAME_ANCESTOR =
  /^(https:\/\/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|http:\/\/(localhost|127\.0\.0\.1))(:[1-9][0-9]{0,4})?$/;
/** The origin of a logo goes into a header as well. Not every host may: one with `;` or `,` would end the directive. */
const LOGO_ORIGIN = /^https:\/\/[a-z0-9.-]+(:[0-9]+)?$/;
const LOGO_DATA = /^data:image\/(png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/;

export class UpdateFleetPortalDto extends dto(
  z
    .strictObject({
      frameAncestors: z
        .array(
          z.string().regex(FRAME_ANCESTOR, 'must be an https origin in lower case, such as https://app.example.com'),
        )
        .max(MAX_ANCESTORS, `must name at most ${String(MAX_ANCESTORS)}`)
        .refine(unique, 'must not repeat an origin')
        .optional()
        .meta({
          uniqueItems: true,
          description: 'Origins whose pages may show the portal in a frame; none by default.',
        }),
      brandColor: z
        .string()
        .regex(/^#[0-9a-f]{6}$/, 'must be a color such as #1d4ed8')
        .nullable()
        .optional()
        .meta({ description: 'Color of links and buttons; null removes it.' }),
      logoUrl: plainText(MAX_LOGO_LENGTH)
        .refine(
          isLogo,
          'must be an https URL of at most 2,048 characters with a plain host name, or a data URL of a PNG, JPEG, WebP or SVG',
        )
        .nullable()
        .optional()
        .meta({ description: 'An https URL, or a base64 data URL of at most 50,000 characters; null removes it.' }),
      colorScheme: oneOf(COLOR_SCHEMES).optional().meta({ description: "`auto`: follows the user's device." }),
    })
    .refine(changesSomething, 'must change something')
    .meta({ id: 'UpdateFleetPortal', minProperties: 1 }),
) {}

function isLogo(given: string): boolean {
  if (LOGO_DATA.test(given)) return true;
  return given.length <= MAX_LOGO_URL_LENGTH && LOGO_ORIGIN.test(parseUrl(given)?.origin ?? '');
}

/** How the console shows itself to a portal session. */
export const branding = z
  .strictObject({
    brandColor: text.optional(),
    logoUrl: text.optional(),
    colorScheme: enumText(COLOR_SCHEMES),
  })
  .meta({ id: 'Branding' });

export class FleetPortalDto extends dto(
  z
    .strictObject({
      portalId: uuidText.meta({ description: 'Part of the path of links to the portal. It is not a secret.' }),
      frameAncestors: z.array(text),
      ...branding.shape,
      version,
      updatedAt: dateTime,
    })
    .meta({ id: 'FleetPortal' }),
) {}

export function toBranding({ brandColor, logoUrl, colorScheme }: FleetPortal): z.infer<typeof branding> {
  return {
    ...(brandColor === null ? {} : { brandColor }),
    ...(logoUrl === null ? {} : { logoUrl }),
    colorScheme,
  };
}

export function toFleetPortal(stored: FleetPortal): FleetPortalDto {
  const { portalId, frameAncestors, updatedAt } = stored;
  return {
    portalId,
    frameAncestors: [...frameAncestors],
    ...toBranding(stored),
    version: stored.version,
    updatedAt: formatTime(updatedAt),
  };
}
