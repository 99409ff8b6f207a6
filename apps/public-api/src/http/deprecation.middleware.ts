import type { RequestHandler } from 'express';
import { sendApiError } from '../errors/api-error.filter.js';
import { ApiError } from '../errors/api-error.js';

export const V1_HISTORY_PATH = '/public/v1/webhook-events';

/** RFC 8594; the texts are the contract. */
export const DEPRECATION_HEADERS = {
  Deprecation: 'true',
  Sunset: 'Tue, 25 Aug 2026 23:59:59 GMT',
  Link: '</public/v2/events>; rel="successor-version"',
} as const;

/**
 * Mounted on the path of v1 before anything that can respond, so that every response there has the headers: also those
 * of the limits, the guard, the router, the body parser and the error filter.
 */
export const deprecateV1: RequestHandler = (_request, response, next) => {
  response.set(DEPRECATION_HEADERS);
  next();
};

/** The message of v1 once the switch of R-32 is on. */
export const V1_GONE = 'This resource has been removed. Use GET /public/v2/events.';

/** Mounted on the path of v1 when the switch of R-32 is on. */
export const answerGone: RequestHandler = (_request, response) => {
  sendApiError(response, new ApiError(410, 'gone', V1_GONE));
};

/** As the router matches it: in any case, with more after it, and in the absolute form that is sent to proxies. */
const V1_TARGET = new RegExp(`^(?:[a-z]+://[^/?#]*)?${V1_HISTORY_PATH}(?:[/?#]|$)`, 'i');

/** Whether a request with this target, as its request line has it, is for v1. */
export function isV1Target(target: string): boolean {
  return V1_TARGET.test(target);
}
