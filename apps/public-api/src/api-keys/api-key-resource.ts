import { formatTime } from '@waypost/domain';
import type { StoredApiKey } from '@waypost/management-store';

/** An API key as the API shows it: never the key itself. */
export interface ApiKeyResource {
  readonly id: string;
  readonly name?: string;
  /** The first characters of the key; absent of keys that were made before prefixes were kept. */
  readonly prefix?: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  /** Only of a revoked key. */
  readonly revokedAt?: string;
}

/** On creation, and never again. */
export type ApiKeyWithKey = ApiKeyResource & { readonly key: string };

export function toApiKeyResource({ id, name, prefix, scopes, createdAt, revokedAt }: StoredApiKey): ApiKeyResource {
  return {
    id,
    ...(name === null ? {} : { name }),
    ...(prefix === null ? {} : { prefix }),
    scopes,
    createdAt: formatTime(createdAt),
    ...(revokedAt === null ? {} : { revokedAt: formatTime(revokedAt) }),
  };
}
