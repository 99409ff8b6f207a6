import type { ErrorBody } from './generated/api.js';

type ErrorContent = ErrorBody['error'];

/** An error response of the API, after all retries. */
export class WaypostApiError extends Error {
  override readonly name = 'WaypostApiError';
  readonly status: number;
  /** A code of the closed list that the OpenAPI document has; `unknown` when something in between responded. */
  readonly code: ErrorContent['code'];
  /** The offending parameters, headers or fields; empty when the service names none. */
  readonly details: NonNullable<ErrorContent['details']>;
  /** Names the request in the logs of the service. */
  readonly requestId: string | null;
  /** What the service asked to wait, when it did. */
  readonly retryAfterMs: number | null;
  /** How often the request was sent. */
  readonly attempts: number;

  constructor(response: ErrorResponse, attempts: number) {
    super(`${String(response.status)} ${response.code}: ${response.message}`);
    this.status = response.status;
    this.code = response.code;
    this.details = response.details;
    this.requestId = response.requestId;
    this.retryAfterMs = response.retryAfterMs;
    this.attempts = attempts;
  }
}

/** No response, after all retries; `cause` says why. */
export class WaypostConnectionError extends Error {
  override readonly name = 'WaypostConnectionError';

  constructor(
    cause: unknown,
    readonly attempts: number,
  ) {
    super(`No response from the API after ${String(attempts)} attempts.`, { cause });
  }
}

export interface ErrorResponse extends Pick<
  WaypostApiError,
  'status' | 'code' | 'details' | 'requestId' | 'retryAfterMs'
> {
  readonly message: string;
}

/** `body`: parsed, when it is JSON. */
export function errorResponse(response: Response, body: unknown, nowMs: number): ErrorResponse {
  const error = contentOf(body);
  return {
    status: response.status,
    code: error.code ?? 'unknown',
    message: error.message ?? response.statusText,
    details: error.details ?? [],
    requestId: error.requestId ?? requestIdOf(response),
    retryAfterMs: retryAfterMs(response.headers.get('retry-after'), nowMs),
  };
}

function contentOf(body: unknown): Partial<ErrorContent> & { readonly requestId?: string } {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {};
  return typeof body.error === 'object' && body.error !== null ? body.error : {};
}

export function requestIdOf({ headers }: Response): string | null {
  return headers.get('x-request-id') ?? headers.get('request-id');
}

/** Seconds, or a date. */
function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
