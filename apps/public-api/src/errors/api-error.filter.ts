import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isConnectionLoss } from '@waypost/database';
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
    if (error.status === 503) this.outages.failed(request, thrown);
    else if (error.status >= 500) {
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
  const details = error.details === undefined ? {} : { details: error.details };
  response.set(error.headers).status(error.status);
  response.json({ error: { code: error.code, message: error.message, ...details, requestId: requestIdOf(response) } });
}

/**
 * Only our own errors are shown as they are; the framework's become the closest of our codes, and everything else is a
 * 500 that reveals nothing about the service.
 */
function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const status = httpStatus(thrown);
  if (status !== null && status >= 400 && status < 500) return errorOfStatus(status);
  if (isConnectionLoss(thrown)) {
    const headers = { 'retry-after': '5' };
    return new ApiError(503, 'unavailable', 'The service is temporarily unavailable; try again shortly.', { headers });
  }
  return new ApiError(500, 'internal_error', 'The service failed to process this request.');
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

/** Nest's exceptions have a status; errors of the body parser and the router carry it as a field. */
function httpStatus(thrown: unknown): number | null {
  if (thrown instanceof HttpException) return thrown.getStatus();
  if (thrown instanceof URIError) return 400;
  if (!(thrown instanceof Error)) return null;
  const { status, statusCode } = thrown as { status?: unknown; statusCode?: unknown };
  const found = status ?? statusCode;
  return typeof found === 'number' ? found : null;
}
