import { HttpException } from '@nestjs/common';

/** The closed list of values of `error.code`. */
export const ERROR_CODES = [
  'invalid_parameter',
  'invalid_body',
  'invalid_header',
  'invalid_request',
  'page_state_invalid',
  'page_state_forged',
  'page_state_expired',
  'page_state_outdated',
  'page_state_other_fleet',
  'page_state_other_query',
  'unauthorized',
  'forbidden',
  'scope_not_held',
  'not_found',
  'method_not_allowed',
  'conflict',
  'subscription_not_active',
  'too_many_secrets',
  'test_event',
  'not_attempted_yet',
  'too_many_replays',
  'too_many_geofences',
  'too_many_subscriptions',
  'too_many_device_ids',
  'too_many_api_keys',
  'too_many_portal_sessions',
  'too_many_changes_per_day',
  'too_many_replays_per_day',
  'precondition_failed',
  'idempotency_in_progress',
  'idempotency_key_reused',
  'idempotency_answer_lost',
  'gone',
  'body_too_large',
  'uri_too_long',
  'headers_too_large',
  'request_timeout',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
  'unavailable',
  'not_in_effect_yet',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** One fault of the request: a query parameter, a header, or a field of the body (a path such as `auth.tokenUrl`). */
export interface ErrorDetail {
  readonly parameter?: string;
  readonly header?: string;
  readonly field?: string;
  /** The resource that the request conflicts with. */
  readonly conflictingId?: string;
  /** What the fleet may have, and what it has. */
  readonly limit?: number;
  readonly current?: number;
  readonly message: string;
}

export interface ApiErrorOptions {
  readonly details?: readonly ErrorDetail[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The `error` of a response, without the id of the request. */
export interface ApiErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
}

/** A deliberate error response. ApiErrorFilter writes it in the shape of R-37. */
export class ApiError extends HttpException {
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: ErrorCode, message: string, { details, headers = {} }: ApiErrorOptions = {}) {
    super({ code, message, ...(details === undefined ? {} : { details }) } satisfies ApiErrorBody, status);
    this.headers = headers;
  }

  /** The log shows the code of every error. */
  get code(): ErrorCode {
    return this.getResponse().code;
  }

  override getResponse(): ApiErrorBody {
    return super.getResponse() as ApiErrorBody;
  }
}

/** 400 that names every offending query parameter. */
export function invalidParameters(details: readonly ErrorDetail[]): ApiError {
  const message = details.map((detail) => sentence(detail.parameter ?? 'the query', detail.message)).join('; ');
  return new ApiError(400, 'invalid_parameter', message, { details });
}

/** 400 that names every offending field of the body. */
export function invalidBody(details: readonly ErrorDetail[]): ApiError {
  const message = details.map((detail) => sentence(detail.field ?? 'the body', detail.message)).join('; ');
  return new ApiError(400, 'invalid_body', message, { details });
}

/** 400 that names the unusable header. */
export function invalidHeader(header: string, message: string): ApiError {
  return new ApiError(400, 'invalid_header', sentence(header, message), { details: [{ header, message }] });
}

/** A message continues the name ("limit must be ..."), or is a whole sentence. */
function sentence(about: string, message: string): string {
  return /^[A-Z]/.test(message) ? `${about}: ${message.replace(/\.$/, '')}` : `${about} ${message}`;
}

export function notFound(message = 'Not found.'): ApiError {
  return new ApiError(404, 'not_found', message);
}
