import type { RequestHandler } from 'express';
import { Counter, Histogram, type Registry } from 'prom-client';

/** The template of the route that a path belongs to, or null. */
export type RouteOf = (path: string) => string | null;

export interface RequestMetricsDeps {
  readonly registry: Registry;
  readonly routeOf: RouteOf;
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonicMs: () => number;
}

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** Clients can invent methods and paths; labels must not. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER = 'other';

/** Counts and times every request that the parser accepted, whatever answers it; first in the chain. */
export function measureRequests({ registry, routeOf, monotonicMs }: RequestMetricsDeps): RequestHandler {
  const duration = new Histogram({
    name: 'waypost_http_request_duration_seconds',
    help: 'From the end of the head of a request to the end of its response. The status is 499 when the client disconnected.',
    labelNames: ['route', 'method', 'status'],
    buckets: BUCKETS_S,
    registers: [registry],
  });
  const limited = new Counter({
    name: 'waypost_http_rate_limited_total',
    help: 'Requests rejected with 429.',
    labelNames: ['route'],
    registers: [registry],
  });
  return (request, response, next) => {
    const startedAt = monotonicMs();
    const { path } = request;
    response.once('close', () => {
      const route = routeOf(path) ?? OTHER;
      const method = METHODS.has(request.method) ? request.method : OTHER;
      const status = response.writableFinished ? String(response.statusCode) : '499';
      duration.observe({ route, method, status }, (monotonicMs() - startedAt) / 1_000);
      if (status === '429') limited.inc({ route });
    });
    next();
  };
}
