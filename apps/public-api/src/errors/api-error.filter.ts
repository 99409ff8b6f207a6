import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import type { Request, Response } from 'express';
import { FleetBusyError, isConnectionLoss } from '@waypost/database';
import { LOGGER, type Logger } from '@waypost/platform';
import { ApiError, type ErrorCode } from './api-error.js';
import { OutageLog } from './outage-log.js';
import { requestIdOf } from './request-id.middleware.js';

/** The one place that writes error responses: `{ "error": { "code", "message", "details"?, "requestId" } }`. */
@Catch()
export class ApiErrorFilter implements ExceptionFilter {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly outages: OutageLog,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = toApiError(thrown);
    const status = error.getStatus();
    if (status === 503) this.outages.failed(request, thrown);
    else if (status >= 500) {
      const { method, path } = request;
      this.logger.error('request_failed', { requestId: requestIdOf(response), method, path, error: thrown });
    }
    sendApiError(response, error);
  }
}

/** Writes the response, unless its head has already gone out: then only closing the connection can report the failure. */
export function sendApiError(response: Response, error: ApiError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.set(error.headers).status(error.getStatus());
  response.json({ error: { ...error.getResponse(), requestId: requestIdOf(response) } });
}

/**
 * Only our own errors are shown as they are; the framework's, into which Nest turns those of the body parser and the
 * router too, become the closest of our codes; everything else is a 500 that reveals nothing about the service.
 */
function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof HttpException && isClientError(thrown.getStatus())) return errorOfStatus(thrown.getStatus());
  if (thrown instanceof FleetBusyError) {
    const message =
      'Too many requests of this fleet, over all of its keys and sessions, are in progress; try again shortly.';
    return new ApiError(429, 'rate_limited', message, { headers: { 'retry-after': '1' } });
  }
  if (isConnectionLoss(thrown)) {
    const headers = { 'retry-after': '5' };
    return new ApiError(503, 'unavailable', 'The service is temporarily unavailable; try again shortly.', { headers });
  }
  return new ApiError(500, 'internal_error', 'The service failed to process this request.');
}

function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}

const BY_STATUS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  404: ['not_found', 'There is no resource at this path.'],
  413: ['body_too_large', 'The body may be at most 100 KB.'],
  415: [
    'unsupported_media_type',
    'The body must be application/json in UTF-8, plain or compressed with gzip, deflate or br.',
  ],
};

/** Our response for a 4xx that the framework decided on. */
export function errorOfStatus(status: number): ApiError {
  const known = BY_STATUS[status];
  if (known !== undefined) return new ApiError(status, ...known);
  return new ApiError(400, 'invalid_request', 'The request cannot be read: its path or its body is malformed.');
}
