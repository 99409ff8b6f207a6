import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { HostResolver } from '../address/resolve-host.js';

/** A connection that was never made because of where it led. */
export class AddressRefusedError extends Error {
  readonly code = 'EGRESS_ADDRESS_REFUSED';
}

/** A host whose addresses could not be had. */
export class HostUnresolvableError extends Error {
  readonly code = 'EGRESS_HOST_UNRESOLVABLE';
}

export interface CheckedConnectorOptions {
  readonly resolve: HostResolver;
  readonly connectTimeoutMs: number;
  /** Further certificate authorities to trust, PEM. */
  readonly trustedCa?: string | undefined;
}

/**
 * Opens sockets to checked addresses only. The check is the lookup of the socket itself, so there is no second
 * resolution between check and connect that could answer differently. Hosts that are literal addresses never get to a
 * lookup and are judged before. TLS verifies the certificate against the URL's host name, whatever the environment.
 */
export function createCheckedConnector(options: CheckedConnectorOptions): buildConnector.connector {
  const { resolve, connectTimeoutMs, trustedCa } = options;
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: checkedLookup(resolve),
    // Several checked addresses are tried in turn, as RFC 8305 wants.
    autoSelectFamily: true,
    allowH2: false,
    rejectUnauthorized: true,
    ...(trustedCa === undefined ? {} : { ca: trustedCa }),
  });
  return (target, callback) => {
    if (isIP(target.hostname) === 0) {
      connect(target, callback);
      return;
    }
    void checkedAddresses(resolve, target.hostname).then(
      () => {
        connect(target, callback);
      },
      (error: unknown) => {
        callback(error as Error, null);
      },
    );
  };
}

function checkedLookup(resolve: HostResolver): LookupFunction {
  return (hostname, { all }, callback) => {
    void checkedAddresses(resolve, hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 4);
      },
      (error: unknown) => {
        callback(error as Error, []);
      },
    );
  };
}

async function checkedAddresses(resolve: HostResolver, host: string): Promise<{ address: string; family: number }[]> {
  const resolution = await resolve(host);
  switch (resolution.type) {
    case 'resolved':
      return [...resolution.addresses];
    case 'refused':
      throw new AddressRefusedError(resolution.detail);
    case 'unresolvable':
      throw new HostUnresolvableError(resolution.detail);
  }
}
