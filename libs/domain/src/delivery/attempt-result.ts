/** Why an attempt has no status code. Closed: the history and the documentation name these. */
export const ATTEMPT_ERROR_CODES = [
  /** No complete status line within the deadline. */
  'timeout',
  'dns_error',
  'connection_refused',
  'connection_reset',
  'connection_failed',
  'tls_error',
  /** What came back is not HTTP. */
  'protocol_error',
  /** The name resolves to an address that is not public. */
  'address_refused',
  /** The URL is not one that may be called at all, e.g. no longer https. */
  'url_refused',
  /** No bearer token could be had. */
  'token_error',
  /** No signing secret of the subscription can be read. */
  'secret_unreadable',
  'subscription_deleted',
  /** Whether the subscription still exists could not be found out in time. */
  'subscription_unknown',
  /** Any other failure below HTTP. */
  'network_error',
] as const;

export type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

/** What came of one attempt. */
export type AttemptResult =
  | {
      readonly type: 'response';
      readonly statusCode: number;
      /** The header `Retry-After` as it came. */
      readonly retryAfter?: string | null | undefined;
    }
  | { readonly type: 'error'; readonly errorCode: AttemptErrorCode; readonly detail: string };
