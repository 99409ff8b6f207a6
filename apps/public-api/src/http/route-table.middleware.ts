import type { RequestHandler } from 'express';
import { sendApiError } from '../errors/api-error.filter.js';
import { ApiError } from '../errors/api-error.js';

/** Path templates as OpenAPI writes them, with the methods of each in upper case. */
export type RouteMethods = Readonly<Record<string, readonly string[]>>;

/** Answers 405 with `Allow` where the path exists and the method does not; the router itself would say 404. */
export function guardMethods(routes: RouteMethods): RequestHandler {
  const known = Object.entries(routes).map(([template, methods]) => ({
    pattern: pathPattern(template),
    // The router answers HEAD wherever it answers GET.
    methods: methods.includes('GET') ? [...methods, 'HEAD'] : [...methods],
  }));
  return (request, response, next) => {
    const route = known.find(({ pattern }) => pattern.test(request.path));
    if (route === undefined || route.methods.includes(request.method)) {
      next();
      return;
    }
    const allow = route.methods.join(', ');
    const message = `${request.method} is not supported here; supported: ${allow}.`;
    sendApiError(response, new ApiError(405, 'method_not_allowed', message, { headers: { allow } }));
  };
}

/**
 * Drops `If-None-Match` where responses have no `ETag`: the framework takes `*` for a match of any response, and would
 * answer 304 to a client that has nothing.
 *
 * @param taggedPaths templates of the paths whose responses have one
 */
export function dropUselessConditions(taggedPaths: readonly string[]): RequestHandler {
  const patterns = taggedPaths.map(pathPattern);
  return (request, _response, next) => {
    const { headers } = request;
    if (headers['if-none-match'] !== undefined && !patterns.some((pattern) => pattern.test(request.path))) {
      delete headers['if-none-match'];
    }
    next();
  };
}

/** Finds the template that a path belongs to, or null. */
export function createRouteOf(templates: readonly string[]): (path: string) => string | null {
  const known = templates.map((template) => ({ template, pattern: pathPattern(template) }));
  return (path) => known.find(({ pattern }) => pattern.test(path))?.template ?? null;
}

/** As lenient as the router: case and a final slash do not matter. */
function pathPattern(template: string): RegExp {
  const segments = template.split('/').map((segment) => (segment.startsWith('{') ? '[^/]+' : escapeRegExp(segment)));
  return new RegExp(`^${segments.join('/')}/?$`, 'i');
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
