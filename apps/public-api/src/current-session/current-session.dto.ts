import { z } from 'zod';
import { dto } from '../endpoint/dto.js';
import { dateTime, text, uuidText } from '../endpoint/fields.js';
import { branding } from '../portal-settings/portal-settings.dto.js';

/** Who the caller is, for programs that are given a key or a token and show what it can do. */
export class SessionDto extends dto(
  z
    .strictObject({
      type: z.enum(['api_key', 'portal_session', 'admin']).meta({ description: 'How the request was authenticated.' }),
      fleetId: text.optional().meta({ description: 'Absent for an admin key without `X-Waypost-Fleet`.' }),
      scopes: z.array(text),
      subscriptionIds: z.array(uuidText).optional().meta({
        description: 'Only for a portal session limited to these subscriptions.',
      }),
      expiresAt: dateTime.optional().meta({ description: 'Only for a portal session.' }),
      returnUrl: text.optional().meta({ description: 'Where to send the user when the portal session has ended.' }),
      branding: branding.optional(),
      mapTiles: z
        .strictObject({
          url: text.meta({
            description: 'URL template of the raster tiles, with the placeholders `{z}`, `{x}` and `{y}`.',
          }),
          attribution: text,
        })
        .optional()
        .meta({ description: 'Background of the maps in the console. Absent: maps without tiles.' }),
      historyRetentionMs: z.int().min(1).meta({ description: 'How long the history keeps a delivery.' }),
    })
    .meta({ id: 'Session' }),
) {}
