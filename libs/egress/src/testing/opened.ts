import { afterEach } from '@jest/globals';
import type { Lookup } from '../address/dns-lookup.js';
import {
  createEgressClient,
  type EgressClient,
  type EgressClientOptions,
  type EgressRequest,
} from '../client/egress-client.js';
import { type RawServer, startRawServer } from './raw-server.js';

/** The clients and servers of one spec file, closed after each of its tests. */
export function closedAfterEach() {
  const servers: RawServer[] = [];
  const clients: EgressClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  function keep(server: RawServer): RawServer {
    servers.push(server);
    return server;
  }
  /** May reach loopback addresses over http. */
  function openClient(options: Partial<EgressClientOptions> = {}): EgressClient {
    const client = createEgressClient({ allowedSubnets: ['127.0.0.0/8'], allowHttp: true, ...options });
    clients.push(client);
    return client;
  }
  return {
    keep,
    openClient,
    serve: async (...args: Parameters<typeof startRawServer>) => keep(await startRawServer(...args)),
    /** A client that posts a short body to a URL. */
    build(options: Partial<EgressClientOptions> = {}) {
      const client = openClient(options);
      return (url: string, request: Partial<EgressRequest> = {}) =>
        client.post({
          url,
          headers: { 'content-type': 'application/json' },
          body: '{"a":1}',
          deadlineMs: 3_000,
          ...request,
        });
    },
  };
}

/** Every name is at these addresses, one list per call, the last one for good. */
export function lookupAnswering(...answers: string[][]): Lookup & { asked: string[] } {
  const asked: string[] = [];
  const lookup = (hostname: string) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
  return Object.assign(lookup, { asked });
}
