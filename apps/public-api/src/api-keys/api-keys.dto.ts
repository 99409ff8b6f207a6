import { z } from 'zod';
import { formatTime } from '@waypost/domain';
import { API_KEY_SCOPES, type StoredApiKey } from '@waypost/management-store';
import { dto } from '../endpoint/dto.js';
import { dateTime, oneOf, plainText, text, unique, uuid, uuidText } from '../endpoint/fields.js';
import { pageOf } from '../paging/paging.dto.js';

const MAX_NAME_LENGTH = 128;

export class CreateApiKeyDto extends dto(
  z
    .strictObject({
      name: plainText(MAX_NAME_LENGTH).optional().meta({ description: 'What the key is for.' }),
      scopes: z
        .array(oneOf(API_KEY_SCOPES))
        .min(1, 'must name at least one')
        .refine(unique, 'must not repeat a scope')
        .meta({
          uniqueItems: true,
          description: 'What the key may do: a subset of the scopes of the key that creates it.',
        }),
    })
    .meta({ id: 'CreateApiKey' }),
) {}

export class ApiKeyPathDto extends dto(
  z.object({ id: uuid('There is no such API key.').meta({ description: 'The id of the API key.' }) }),
) {}

const fields = {
  id: uuidText,
  name: text.optional(),
  prefix: text.optional().meta({
    description: 'The first characters of the key; absent for keys that earlier versions created.',
  }),
  scopes: z.array(text),
  createdAt: dateTime,
  revokedAt: dateTime.optional().meta({ description: 'When it was revoked; only for a revoked key.' }),
};

/** An API key as the API shows it: never the key itself. */
export class ApiKeyDto extends dto(z.strictObject(fields).meta({ id: 'ApiKey' })) {}

/** On creation, and never again. */
export class ApiKeyWithKeyDto extends dto(
  z
    .strictObject({
      ...fields,
      key: z
        .string()
        .meta({ pattern: '^wp_[A-Za-z0-9_-]{43}$', description: 'The key. It is shown here and never again.' }),
    })
    .meta({ id: 'ApiKeyWithKey' }),
) {}

export class ApiKeyPageDto extends dto(pageOf(ApiKeyDto.schema)) {}

export function toApiKey({
  id,
  name,
  prefix,
  scopes,
  createdAt,
  revokedAt,
}: StoredApiKey): z.infer<typeof ApiKeyDto.schema> {
  return {
    id,
    ...(name === null ? {} : { name }),
    ...(prefix === null ? {} : { prefix }),
    scopes: [...scopes],
    createdAt: formatTime(createdAt),
    ...(revokedAt === null ? {} : { revokedAt: formatTime(revokedAt) }),
  };
}
