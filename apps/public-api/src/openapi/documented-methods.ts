import type { RouteMethods } from '../http/method-guard.middleware.js';
import type { OpenApiDocument } from './openapi-types.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** The methods of each path as the document has them, in upper case. */
export function documentedMethods(document: OpenApiDocument): RouteMethods {
  const routes = Object.entries(document.paths).map(([path, item]) => [
    path,
    METHODS.filter((method) => item[method] !== undefined).map((method) => method.toUpperCase()),
  ]);
  return Object.fromEntries(routes) as RouteMethods;
}

/** The paths that can be read with a condition: those that may answer 304. */
export function conditionalPaths(document: OpenApiDocument): string[] {
  return Object.entries(document.paths)
    .filter(([, item]) => item.get?.responses['304'] !== undefined)
    .map(([path]) => path);
}
