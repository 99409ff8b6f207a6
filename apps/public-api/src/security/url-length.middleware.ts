import type { RequestHandler } from 'express';
import { ApiError } from '../errors/api-error.js';
import { sendApiError } from '../errors/api-error.filter.js';

/** Path and query, in characters as they were sent. */
export const MAX_URL_LENGTH = 8_192;

export const limitUrlLength: RequestHandler = (request, response, next) => {
  if (request.originalUrl.length <= MAX_URL_LENGTH) {
    next();
    return;
  }
  const message = `The path and the query may be at most ${String(MAX_URL_LENGTH)} characters.`;
  sendApiError(response, new ApiError(414, 'uri_too_long', message));
};
