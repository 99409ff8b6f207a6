import type { RequestHandler } from 'express';
import { ApiError } from '../errors/api-error.js';
import { sendApiError } from '../errors/api-error.filter.js';

/** As the server itself looks for it before it sends `100 Continue`. */
const CONTINUE = /(?:^|\W)100-continue(?:\W|$)/i;

/** Answers 417 to expectations that nobody here can meet, and hangs up: a body may be waiting for that answer. */
export const refuseExpectations: RequestHandler = (request, response, next) => {
  const { expect } = request.headers;
  if (expect === undefined || CONTINUE.test(expect)) {
    next();
    return;
  }
  const headers = { connection: 'close' };
  sendApiError(
    response,
    new ApiError(417, 'invalid_request', 'Of expectations only 100-continue is met.', { headers }),
  );
};
