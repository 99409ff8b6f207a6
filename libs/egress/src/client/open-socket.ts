import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls';
import type { ResolvedAddress } from '../address/dns-lookup.js';

export interface ConnectTarget {
  /** `https:` or `http:`. */
  readonly protocol: string;
  /** A name or an address; IPv6 without brackets. */
  readonly hostname: string;
  /** Empty: the default of the protocol. */
  readonly port: string;
  /** Receives the bytes in place of the stream. */
  readonly onread?: OnReadOpts;
}

export interface SocketOpenerOptions {
  /** Certificate authorities to trust besides the public ones, PEM. */
  readonly trustedCa?: string | undefined;
  /** For tests of a socket that reaches another address than requested. */
  readonly openTcp?: typeof connectTcp | undefined;
}

/** Connects to one of the addresses, tried one after the other; the host name is not resolved again. */
export type SocketOpener = (target: ConnectTarget, addresses: readonly ResolvedAddress[]) => Socket;

/** Long enough for a distant round trip, short enough to leave time for the last address (RFC 8305, 5). */
const NEXT_ADDRESS_MS = 750;
const TCP_KEEP_ALIVE_MS = 60_000;

export function createSocketOpener({ trustedCa, openTcp = connectTcp }: SocketOpenerOptions): SocketOpener {
  // Made once: parsing the public authorities costs milliseconds.
  const secureContext =
    trustedCa === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, trustedCa] });

  return (target, addresses) => {
    const { hostname } = target;
    const isSecure = target.protocol === 'https:';
    const options = {
      host: hostname,
      port: Number(target.port || (isSecure ? 443 : 80)),
      lookup: lookupOf(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      ...(target.onread === undefined ? {} : { onread: target.onread }),
    };
    if (!isSecure) return openTcp(options);
    return connectTls({
      ...options,
      // RFC 6066: an address is not a server name. The certificate is then checked against `host`.
      ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      ...(secureContext === undefined ? {} : { secureContext }),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    });
  };
}

/** A lookup for `net.connect` that returns only the checked addresses. */
function lookupOf(addresses: readonly ResolvedAddress[]) {
  return (
    _hostname: string,
    { all }: { all?: boolean | undefined },
    callback: (error: Error | null, address: string | ResolvedAddress[], family?: number) => void,
  ): void => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}
