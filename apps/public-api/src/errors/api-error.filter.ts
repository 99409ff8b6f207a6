import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { Request, Response } from 'express';
import { LOGGER, OUTAGE_LOG, type ApiLogger } from '../dependencies.js';
import type { ApiError } from './api-error.js';
import type { OutageLog } from './outage-log.js';
import { toApiError } from './to-api-error.js';

/** The one place that writes error answers: `{ "error": { "code", "message", "details"? } }`. */
@Catch()
export class ApiErrorFilter implements ExceptionFilter {
  constructor(
    @Inject(LOGGER) private readonly logger: ApiLogger,
    @Inject(OUTAGE_LOG) private readonly outages: OutageLog,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const error = toApiError(thrown);
    if (error.status === 503) this.outages.failed(request, thrown);
    else if (error.status >= 500) {
      this.logger.error('request_failed', { method: request.method, path: request.path, error: thrown });
    }
    sendApiError(http.getResponse<Response>(), error);
  }
}

/** Writes the answer, unless its head has already gone out: then only the connection can still say that it failed. */
export function sendApiError(response: Response, error: ApiError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const details = error.details === undefined ? {} : { details: error.details };
  response.set(error.headers).status(error.status);
  response.json({ error: { code: error.code, message: error.message, ...details } });
}
