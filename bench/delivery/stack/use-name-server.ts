/**
 * Preloaded into the measured applications: their resolvers query the name server of the benchmark. It is the one part of
 * them that a benchmark cannot configure, as it comes from /etc/resolv.conf.
 */
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';

const address = process.env['BENCH_NAME_SERVER'];
if (address !== undefined) {
  const servers = [address];
  const { Resolver } = dns;
  dns.Resolver = class extends Resolver {
    constructor(options?: ConstructorParameters<typeof Resolver>[0]) {
      super(options);
      this.setServers(servers);
    }
  };
  syncBuiltinESMExports();
}
