import { challengeHeaders } from '../auth/challenge.js';
import { ApiError, type ErrorDetail, invalidBody, notFound } from '../errors/api-error.js';

export function noSuchPortalSession(): ApiError {
  return notFound('There is no such portal session.');
}

/** A session ends with its key, and a session is none. */
export function onlyKeys(): ApiError {
  const headers = challengeHeaders(null);
  return new ApiError(403, 'forbidden', 'Portal sessions are created with an API key or an admin key.', { headers });
}

/** One answer for all that can be wrong with a code: a guess learns nothing. */
export function unusableCode(): ApiError {
  return notFound('This link has already been used, has expired or was revoked: ask for a new one.');
}

/** 400 that names each subscription that the fleet does not have. */
export function unknownSubscriptions(wanted: readonly string[], known: readonly string[]): ApiError {
  const details = wanted.flatMap((id, index): ErrorDetail[] =>
    known.includes(id)
      ? []
      : [{ field: `subscriptionIds.${String(index)}`, message: 'is not a subscription of this fleet' }],
  );
  return invalidBody(details);
}

/** 400 that names each scope that says something about the whole fleet. */
export function unlimitedScopes(scopes: readonly string[], unlimited: readonly string[]): ApiError {
  const message = 'cannot be limited to subscriptions';
  return invalidBody(unlimited.map((scope) => ({ field: `scopes.${String(scopes.indexOf(scope))}`, message })));
}
