import type { RequestHandler } from 'express';
import { sendApiError } from '../errors/api-error.filter.js';
import { errorOfStatus } from '../errors/to-api-error.js';
import { hasBody } from './has-body.js';

/** Refuses bodies that are not JSON before any parser sees them; requests without a body pass. */
export const onlyJsonBodies: RequestHandler = (request, response, next) => {
  if (!hasBody(request) || request.is('application/json') !== false) {
    next();
    return;
  }
  sendApiError(response, errorOfStatus(415));
};
