export type DomainErrorCode =
  | 'bad_key'
  | 'bad_nonce'
  | 'bad_secret'
  | 'no_signing_secret'
  | 'unknown_payload_format'
  | 'unknown_event_type'
  | 'attempt_out_of_range';

/** A bug or a wrong configuration, never an expected outcome; the message says how to fix it. */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: DomainErrorCode,
    message: string,
  ) {
    super(message);
  }
}
