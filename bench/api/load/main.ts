/* The load generator, a process of its own: what it costs is not counted as public-api's. */
import autocannon from 'autocannon';
import { serveRequests } from '../../shared/processes/serve-requests.js';
import type { LoadRequest, LoadResult } from './messages.js';

async function generate({ origin, requests, callers, seconds }: LoadRequest): Promise<LoadResult> {
  const result = await autocannon({
    url: origin,
    connections: callers,
    duration: seconds,
    requests: requests.map((request) => ({ method: 'GET', ...request })),
  });
  const { requests: answered, latency, throughput } = result;
  return {
    answers: answered.total,
    seconds: result.duration,
    bytes: throughput.total,
    latencyMs: { p50: latency.p50, p99: latency.p99, most: latency.max },
    failures: result.non2xx + result.errors + result.timeouts,
  };
}

serveRequests((request) => generate(request as LoadRequest));
