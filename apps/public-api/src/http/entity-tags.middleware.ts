import type { RequestHandler } from 'express';
import { pathPattern } from './method-guard.middleware.js';

/**
 * Drops `If-None-Match` where answers carry no `ETag`, so that they are given in full: the framework takes `*` for a
 * match of any answer whatever, and would send a page that nobody has as 304.
 *
 * @param taggedPaths templates of the paths whose answers carry one
 */
export function dropIdleConditions(taggedPaths: readonly string[]): RequestHandler {
  const patterns = taggedPaths.map(pathPattern);
  return (request, _response, next) => {
    const { headers } = request;
    if (headers['if-none-match'] !== undefined && !patterns.some((pattern) => pattern.test(request.path))) {
      delete headers['if-none-match'];
    }
    next();
  };
}
