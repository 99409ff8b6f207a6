/** A response that breaks HTTP/1.1 or a bound. */
export class ResponseRefusedError extends Error {
  readonly code = 'EGRESS_RESPONSE_REFUSED';
}
