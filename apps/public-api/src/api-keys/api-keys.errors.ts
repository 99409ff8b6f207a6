import { challengeHeaders } from '../auth/challenge.js';
import { ApiError, type ErrorDetail, notFound } from '../errors/api-error.js';

export function noSuchApiKey(): ApiError {
  return notFound('There is no such API key.');
}

/** 403 that names each scope that the caller cannot grant. */
export function scopesNotHeld(wanted: readonly string[], held: readonly string[]): ApiError {
  const missing = wanted.filter((scope) => !held.includes(scope));
  const details: ErrorDetail[] = missing.map((scope) => ({
    field: `scopes.${String(wanted.indexOf(scope))}`,
    message: `${scope} is not a scope of the calling key`,
  }));
  const headers = challengeHeaders({ error: 'insufficient_scope', scope: missing.join(' ') });
  const message = `A key can grant only scopes of its own; this one lacks ${missing.join(', ')}.`;
  return new ApiError(403, 'scope_not_held', message, { details, headers });
}
