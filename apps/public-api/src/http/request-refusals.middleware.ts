import type { IncomingMessage } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { errorOfStatus, sendApiError } from '../errors/api-error.filter.js';
import { ApiError } from '../errors/api-error.js';

/*
 * What no endpoint has to deal with: requests that are refused before the router, whatever their path.
 */

/** Refuses what HTTP/1.1 forbids (RFC 9112, 3.2); the server would do so itself, with an empty response. */
export const requireHost: RequestHandler = ({ headers, httpVersion }, response, next) => {
  if (headers.host !== undefined || httpVersion !== '1.1') {
    next();
    return;
  }
  const message = 'An HTTP/1.1 request must have a Host header.';
  sendApiError(response, new ApiError(400, 'invalid_request', message, { headers: { connection: 'close' } }));
};

/** The pattern with which the server itself looks for it before it sends `100 Continue`. */
const CONTINUE = /(?:^|\W)100-continue(?:\W|$)/i;

/** Answers 417 to expectations that are not supported, and closes: the client may be waiting to send a body. */
export const refuseExpectations: RequestHandler = (request, response, next) => {
  const { expect } = request.headers;
  if (expect === undefined || CONTINUE.test(expect)) {
    next();
    return;
  }
  const message = 'The only supported expectation is 100-continue.';
  sendApiError(response, new ApiError(417, 'invalid_request', message, { headers: { connection: 'close' } }));
};

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

/** Whether a request announces a body after its headers. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Refuses bodies that are not JSON before any parser sees them; requests without a body pass. */
export const onlyJsonBodies: RequestHandler = (request, response, next) => {
  if (!hasBody(request) || request.is('application/json') !== false) {
    next();
    return;
  }
  sendApiError(response, errorOfStatus(415));
};

/** Far more than any body of ours nests. */
const MAX_DEPTH = 32;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Refuses deeply nested JSON before it is parsed: code that walks through it later would recurse. For body-parser's
 * `verify`.
 */
export function refuseDeepJson(_request: unknown, _response: unknown, body: Buffer): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (OPENING.has(byte)) depth++;
    else if (CLOSING.has(byte)) depth--;
    if (depth > MAX_DEPTH) {
      throw new ApiError(400, 'invalid_request', `The body nests more than ${String(MAX_DEPTH)} levels.`);
    }
  }
}

/**
 * Answers what our own checks before the router throw. Nest would not know refuseDeepJson's for ours: body-parser marks
 * what its `verify` throws as an error of its own.
 */
export const sendOwnErrors: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof ApiError) sendApiError(response, error);
  else next(error);
};
