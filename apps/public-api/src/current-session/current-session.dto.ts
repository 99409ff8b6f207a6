import { z } from 'zod';
import { dto } from '../endpoint/dto.js';
import { dateTime, text, uuidText } from '../endpoint/fields.js';
import { branding } from '../portal-settings/portal-settings.dto.js';

/** Who the caller is, for programs that are given a key or a token and show what it can do. */
export class SessionDto extends dto(
  z
    .strictObject({
      type: z
        .enum(['api_key', 'portal_session', 'admin'])
        .meta({ description: 'What the request was authenticated by.' }),
      fleetId: text.optional().meta({ description: 'Absent for an admin key without `X-Waypost-Fleet`.' }),
      scopes: z.array(text),
      subscriptionIds: z.array(uuidText).optional().meta({
        description: 'Only for a portal session that is limited to them.',
      }),
      expiresAt: dateTime.optional().meta({ description: 'Only for a portal session.' }),
      returnUrl: text.optional().meta({ description: 'Where to go when the portal session has ended.' }),
      branding: branding.optional(),
      mapTiles: z
        .strictObject({
          url: text.meta({ description: 'Of a raster tile, with `{z}`, `{x}` and `{y}` for its place.' }),
          attribution: text,
        })
        .optional()
        .meta({ description: 'For the maps of the console; absent: they have no tiles.' }),
      historyRetentionMs: z.int().min(1).meta({ description: 'For how long the history keeps a delivery.' }),
    })
    .meta({ id: 'Session' }),
) {}
