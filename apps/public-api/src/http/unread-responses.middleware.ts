import type { Request, RequestHandler } from 'express';
import { identityOf } from '../auth/caller.js';
import { ApiError } from '../errors/api-error.js';
import { clientOf } from '../limits/address-limiter.js';
import { type ShareLimits, Shares, type ShareTaker } from '../limits/shares.js';
import { onResponseEnd } from './response-end.js';

/** Shorter ones, errors among them, are always sent: with as many connections as there may be they fill 64 MiB. */
const SHORT_BYTES = 16_384;
const MIB = 1_048_576;
/** All who have no key: they get the description of the API and its pages, nothing of a fleet. */
const ANONYMOUS = 'anonymous';
/** Refused after it has been done, a request would look as if it had not been. */
const REPEATABLE = new Set(['GET', 'OPTIONS']);

/**
 * Bounds the responses that are in memory because their connections do not take them: a client that asks and does
 * not read holds each page for as long as a connection may stand still. Mounted behind `identifyCallers`.
 */
export function boundUnreadResponses(limits: ShareLimits): RequestHandler {
  const shares = new Shares(limits);
  return (request, response, next) => {
    const send = response.send.bind(response);
    // Whatever answers with a text or an object does so through this.
    response.send = (body?: unknown) => {
      const bytes = typeof body === 'string' && request.method !== 'HEAD' ? Buffer.byteLength(body) : 0;
      if (bytes <= SHORT_BYTES) return send(body);
      const share = shares.take(takerOf(request), bytes);
      if (share.type === 'taken') onResponseEnd(response, share.giveBack);
      else if (REPEATABLE.has(request.method)) {
        response.removeHeader('etag');
        throw tooMuchUnread(share.whose, share.most);
      }
      return send(body);
    };
    next();
  };
}

function takerOf(request: Request): ShareTaker {
  const identity = identityOf(request);
  if (identity.type === 'caller') return identity.caller;
  if (identity.type === 'admin') return { fleetId: `admin ${identity.keyId}`, keyId: identity.keyId };
  return { fleetId: ANONYMOUS, keyId: `address ${clientOf(request.ip ?? '')}` };
}

function tooMuchUnread(whose: keyof ShareLimits, most: number): ApiError {
  const headers = { 'retry-after': '5' };
  if (whose === 'process')
    return new ApiError(503, 'unavailable', 'Too many responses are unread; try again shortly.', { headers });
  const holder = whose === 'key' ? 'This caller' : 'This fleet, over all of its keys and sessions,';
  const message = `${holder} has more than ${String(most / MIB)} MiB of unread responses: read them, or close those connections.`;
  return new ApiError(429, 'rate_limited', message, { headers });
}
