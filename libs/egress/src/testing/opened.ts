import { afterEach } from '@jest/globals';
import { createEgressClient, type EgressClient, type EgressClientOptions } from '../client/egress-client.js';
import type { RawServer } from './raw-server.js';

/** The clients and servers of one spec file, closed after each of its tests. */
export function closedAfterEach() {
  const servers: RawServer[] = [];
  const clients: EgressClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  return {
    keep(server: RawServer): RawServer {
      servers.push(server);
      return server;
    },
    /** May reach loopback addresses over http. */
    openClient(options: Partial<EgressClientOptions> = {}): EgressClient {
      const client = createEgressClient({ allowedSubnets: ['127.0.0.0/8'], allowHttp: true, ...options });
      clients.push(client);
      return client;
    },
  };
}
