import { pathPattern, type RouteMethods } from '../http/method-guard.middleware.js';
import type { RouteOf } from './request-metrics.js';

/** Finds the template of a path as the OpenAPI document has it. */
export function createRouteOf(routes: RouteMethods): RouteOf {
  const known = Object.keys(routes).map((template) => ({ template, pattern: pathPattern(template) }));
  return (path) => known.find(({ pattern }) => pattern.test(path))?.template ?? null;
}
