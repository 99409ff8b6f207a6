import type { RequestHandler } from 'express';
import { ApiError } from '../errors/api-error.js';
import { sendApiError } from '../errors/api-error.filter.js';

/** Refuses what HTTP/1.1 forbids (RFC 9112, 3.2); the server would do so itself, with an empty answer. */
export const requireHost: RequestHandler = ({ headers, httpVersion }, response, next) => {
  if (headers.host !== undefined || httpVersion !== '1.1') {
    next();
    return;
  }
  const message = 'A request of HTTP/1.1 names its Host.';
  sendApiError(response, new ApiError(400, 'invalid_request', message, { headers: { connection: 'close' } }));
};
