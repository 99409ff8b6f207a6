import type { RequestHandler } from 'express';
import { ApiError } from '../errors/api-error.js';
import { sendApiError } from '../errors/api-error.filter.js';

export const V1_HISTORY_PATH = '/public/v1/webhook-events';

/** RFC 8594; the texts are the contract. */
export const DEPRECATION_HEADERS = {
  Deprecation: 'true',
  Sunset: 'Tue, 25 Aug 2026 23:59:59 GMT',
  Link: '</public/v2/events>; rel="successor-version"',
} as const;

export interface DeprecationSettings {
  /** The switch of R-32: v1 answers 410. */
  readonly gone: boolean;
}

/**
 * Mounted on the path of v1 before anything that can answer, so that every answer there has the headers: those of
 * the guard, the router, the body parser and the error filter too.
 */
export function deprecateV1({ gone }: DeprecationSettings): RequestHandler {
  return (_request, response, next) => {
    response.set(DEPRECATION_HEADERS);
    if (!gone) {
      next();
      return;
    }
    sendApiError(response, new ApiError(410, 'gone', 'This resource has been removed. Use GET /public/v2/events.'));
  };
}

/** Longer than any method with the path. */
const RAW_START_LENGTH = 64;
const RAW_REQUEST_OF_V1 = new RegExp(`^[A-Z]+ ${V1_HISTORY_PATH}[/? ]`, 'i');

/**
 * The headers for the answer to a request that the HTTP parser has refused, by the bytes that it was given last: none
 * when these do not begin with a request line of v1.
 */
export function deprecationOfRaw(bytes: Buffer | undefined): Readonly<Record<string, string>> {
  const start = bytes?.toString('latin1', 0, RAW_START_LENGTH) ?? '';
  return RAW_REQUEST_OF_V1.test(start) ? DEPRECATION_HEADERS : {};
}
