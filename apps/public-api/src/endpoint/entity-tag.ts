import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ExpectedVersions } from '@waypost/management-store';
import { ApiError, invalidHeader } from '../errors/api-error.js';

/** A resource as it is shown, and which version of it that is. */
export interface Versioned<T> {
  readonly resource: T;
  readonly version: number;
}

/** The strong entity tag of a version: ids are never used again, so a number is enough. */
export function entityTag(version: number): string {
  return `"${String(version)}"`;
}

/**
 * Shows a resource with its version as the `ETag` of the response. Handlers call this, rather than an interceptor: with
 * one interceptor Nest runs every request through observables.
 */
export async function setEntityTag<T>(response: Response, shown: Promise<Versioned<T>>): Promise<T> {
  const { resource, version } = await shown;
  response.set('etag', entityTag(version));
  return resource;
}

const TAG = String.raw`(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"`;
/** `*`, or one tag or more (RFC 9110, 13.1.1). */
export const IF_MATCH_PATTERN = String.raw`^(?:\*|${TAG}(?:[ \t]*,[ \t]*${TAG})*)$`;
const IF_MATCH_FORM = new RegExp(IF_MATCH_PATTERN);

/**
 * The versions that `If-Match` allows to be changed. A weak tag, or one that we did not issue, allows nothing
 * (RFC 9110, 13.1.1).
 *
 * @throws ApiError 400 when the header cannot be read
 */
export function expectedVersions({ headers }: Pick<Request, 'headers'>): ExpectedVersions {
  const header = headers['if-match']?.trim();
  if (header === undefined || header === '*') return null;
  if (!IF_MATCH_FORM.test(header)) {
    throw invalidHeader('If-Match', 'must be an ETag exactly as it was sent, with its quotes, a list of them, or *');
  }
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag = '']) =>
    weak === undefined && /^[1-9]\d{0,8}$/.test(tag) ? [Number(tag)] : [],
  );
}

/** The versions that the request's `If-Match` allows to be changed. */
export const IfMatch = createParamDecorator((_: unknown, context: ExecutionContext) =>
  expectedVersions(context.switchToHttp().getRequest<Request>()),
);

/** 412 with the `ETag` that the resource has now. */
export function versionMismatch(version: number): ApiError {
  const message = 'The resource has changed since you read it: fetch it again and retry. Nothing was changed.';
  return new ApiError(412, 'precondition_failed', message, { headers: { etag: entityTag(version) } });
}
