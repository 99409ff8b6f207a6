import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';

export const REQUEST_ID_HEADER = 'x-request-id';

/**
 * Gives every request an id of ours: in the response, in the body of an error, and in what is logged about it.
 * An id that the client sends is not taken, because it could not be found in the log with certainty.
 */
export function identifyRequests(newId: () => string): RequestHandler {
  return (_request, response, next) => {
    response.set(REQUEST_ID_HEADER, newId());
    next();
  };
}

export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(REQUEST_ID_HEADER));
}
