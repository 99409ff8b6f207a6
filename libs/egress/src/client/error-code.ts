import type { EgressErrorCode } from './egress-result.js';

const CODES: Readonly<Record<string, EgressErrorCode>> = {
  EGRESS_ADDRESS_REFUSED: 'address_refused',
  EGRESS_HOST_UNRESOLVABLE: 'dns_error',
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
  EGRESS_RESPONSE_REFUSED: 'protocol_error',
};

const TLS_CODES =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|PATH_LENGTH_|INVALID_PURPOSE)/;

/** Classes an error of a connection or a response. */
export function errorCodeOf(error: unknown): EgressErrorCode {
  const code = codeOf(error);
  if (code === undefined) return 'network_error';
  if (TLS_CODES.test(code)) return 'tls_error';
  return CODES[code] ?? 'network_error';
}

export function errorDetailOf(error: unknown): string {
  const message = error instanceof Error || hasMessage(error) ? error.message : String(error);
  const code = codeOf(error);
  // An AggregateError of several tried addresses has no message of its own.
  return (message === '' ? (code ?? 'unknown error') : message).slice(0, 300);
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function hasMessage(error: unknown): error is { message: string } {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}
