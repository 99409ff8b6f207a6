import { HttpException } from '@nestjs/common';
import { isConnectionLoss } from '@waypost/database';
import { ApiError, type ErrorCode } from './api-error.js';

/**
 * What an answer says of anything thrown. Only our own errors speak for themselves; the framework's become
 * the closest of our codes, and everything else is a 500 that tells the caller nothing of the inside.
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const status = httpStatus(thrown);
  if (status !== null && status >= 400 && status < 500) return errorOfStatus(status);
  if (isConnectionLoss(thrown)) {
    const headers = { 'retry-after': '5' };
    return new ApiError(503, 'unavailable', 'The service cannot answer right now; try again shortly.', { headers });
  }
  return new ApiError(500, 'internal_error', 'The service failed to answer this request.');
}

const BY_STATUS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  404: ['not_found', 'There is nothing at this path.'],
  413: ['body_too_large', 'The body may be at most 100 KB.'],
  415: [
    'unsupported_media_type',
    'The body must be application/json in UTF-8, plain or compressed with gzip, deflate or br.',
  ],
};

/** Our answer for a 4xx that something below us decided on. */
export function errorOfStatus(status: number): ApiError {
  const known = BY_STATUS[status];
  if (known !== undefined) return new ApiError(status, ...known);
  return new ApiError(400, 'invalid_request', 'The request cannot be read: its path or its body is malformed.');
}

/** Nest's exceptions know their status; the body parser's and the router's errors carry it as a field. */
function httpStatus(thrown: unknown): number | null {
  if (thrown instanceof HttpException) return thrown.getStatus();
  if (thrown instanceof URIError) return 400;
  if (!(thrown instanceof Error)) return null;
  const { status, statusCode } = thrown as { status?: unknown; statusCode?: unknown };
  const found = status ?? statusCode;
  return typeof found === 'number' ? found : null;
}
