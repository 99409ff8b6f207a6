import type { AttemptErrorCode } from '@waypost/domain';
import { codeOf } from '../address/dns-lookup.js';

export type EgressErrorCode = Extract<
  AttemptErrorCode,
  | 'timeout'
  | 'dns_error'
  | 'connection_refused'
  | 'connection_reset'
  | 'connection_failed'
  | 'tls_error'
  | 'protocol_error'
  | 'address_refused'
  | 'url_refused'
  | 'network_error'
>;

/** The outcome of one request. Network failures are values, never exceptions. */
export type EgressResult =
  | {
      readonly type: 'response';
      readonly statusCode: number;
      /** Has only KEPT_HEADERS, in lower case; repeated headers are joined by a comma. */
      readonly headers: Readonly<Partial<Record<KeptHeader, string>>>;
      readonly body: Buffer;
      /** True if the body was longer than the limit, or did not end in time; the rest was not read. */
      readonly truncated: boolean;
    }
  | {
      readonly type: 'error';
      readonly errorCode: EgressErrorCode;
      /** Short, readable by humans, without secrets. */
      readonly detail: string;
      /** Nothing of the request was written: it waited for a connection. */
      readonly isUnsent?: true;
    }
  /** The caller aborted. The request may or may not have arrived. */
  | { readonly type: 'aborted' };

export const KEPT_HEADERS = [
  'retry-after',
  'content-type',
  'content-length',
  'date',
  'server',
  'www-authenticate',
] as const;
export type KeptHeader = (typeof KEPT_HEADERS)[number];

const CODES: Readonly<Record<string, EgressErrorCode>> = {
  EGRESS_ADDRESS_REFUSED: 'address_refused',
  EGRESS_HOST_UNRESOLVABLE: 'dns_error',
  EGRESS_PROXY_FAILED: 'connection_failed',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'connection_failed',
  ENETUNREACH: 'connection_failed',
  EADDRNOTAVAIL: 'connection_failed',
  EHOSTDOWN: 'connection_failed',
  ENETDOWN: 'connection_failed',
  EPROTO: 'tls_error',
  HOSTNAME_MISMATCH: 'tls_error',
  // Certificate checks of OpenSSL. Node reports failures that it has no name for as UNSPECIFIED.
  OUT_OF_MEM: 'tls_error',
  UNSPECIFIED: 'tls_error',
  EGRESS_HANDSHAKES_REFUSED: 'tls_error',
  EGRESS_RESPONSE_REFUSED: 'protocol_error',
};

const TLS_CODES =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|ERROR_IN_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|PATH_LENGTH_|INVALID_PURPOSE)/;

export function errorCodeOf(error: unknown): EgressErrorCode {
  const code = codeOf(error);
  if (code === undefined) return 'network_error';
  if (TLS_CODES.test(code)) return 'tls_error';
  return CODES[code] ?? 'network_error';
}

/** Never contains an address: with allowed subnets or a proxy it may be internal. */
export function errorDetailOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate is for other names';
  // Avoids `connect EHOSTUNREACH 10.1.2.3:443 - Local (10.1.2.4:0)`, and the empty message for several addresses.
  if (isSystemError(error)) return [error.syscall, code].join(' ').trim();
  const message = error instanceof Error || hasMessage(error) ? error.message : String(error);
  return (message === '' ? (code ?? 'unknown error') : message).slice(0, 300);
}

function isSystemError(error: unknown): error is { syscall?: string } {
  if (typeof error !== 'object' || error === null) return false;
  return error instanceof AggregateError || ('syscall' in error && typeof error.syscall === 'string');
}

function hasMessage(error: unknown): error is { message: string } {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}
