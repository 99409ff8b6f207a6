import type { AttemptErrorCode } from '@waypost/domain';

/** The attempt error codes that the network itself can give. */
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

/** What came of one request. Network reality is a value, never an exception. */
export type EgressResult =
  | {
      readonly type: 'response';
      readonly statusCode: number;
      /** Only these of the response: see KEPT_HEADERS. Names in lower case; repeated ones joined by a comma. */
      readonly headers: Readonly<Partial<Record<KeptHeader, string>>>;
      /** At most `maxResponseBytes`. */
      readonly body: Buffer;
      /** The body went on, or did not end in time or at all; its rest was not read. */
      readonly truncated: boolean;
    }
  | {
      readonly type: 'error';
      readonly errorCode: EgressErrorCode;
      /** For people: a short reason without secrets. */
      readonly detail: string;
    }
  /** The caller gave it up. The request may or may not have arrived. */
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
