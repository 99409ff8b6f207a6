import { API_KEY_SCOPES } from '@waypost/management-store';
import { z } from 'zod';
import { plainText, unique } from '../request-body/read-body.js';

const MAX_NAME_LENGTH = 128;

export const createApiKeyBody = z.strictObject({
  name: plainText(MAX_NAME_LENGTH).optional().meta({ description: 'For people: what the key is for.' }),
  scopes: z
    .array(z.enum(API_KEY_SCOPES, `must be one of ${API_KEY_SCOPES.join(', ')}`))
    .min(1, 'must name at least one')
    .refine(unique, 'must not repeat a scope')
    .meta({ uniqueItems: true, description: 'What the key may do; only what the key that asks for it may do too.' }),
});
