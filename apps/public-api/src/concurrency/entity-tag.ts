import type { ExpectedVersions } from '@waypost/management-store';
import type { Request } from 'express';
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

/** The resource, its `ETag` being set on the answer. */
export function tagged<T>(request: Request, { resource, version }: Versioned<T>): T {
  request.res?.set('etag', entityTag(version));
  return resource;
}

const TAG = String.raw`(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"`;
/** `*`, or one tag or more (RFC 9110, 13.1.1). */
export const IF_MATCH_PATTERN = String.raw`^(?:\*|${TAG}(?:[ \t]*,[ \t]*${TAG})*)$`;
const IF_MATCH = new RegExp(IF_MATCH_PATTERN);

/**
 * What `If-Match` allows to be changed. A tag that is none of ours, or weak, allows nothing (RFC 9110, 13.1.1).
 *
 * @throws ApiError 400 when the header cannot be read
 */
export function expectedVersions(request: Request): ExpectedVersions {
  const header = request.headers['if-match']?.trim();
  if (header === undefined || header === '*') return null;
  if (!IF_MATCH.test(header)) {
    throw invalidHeader('If-Match', 'must be an ETag as it was given, with its quotes, a list of them, or *');
  }
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag = '']) =>
    weak === undefined && /^[1-9]\d{0,8}$/.test(tag) ? [Number(tag)] : [],
  );
}

/** 412 with the `ETag` that the resource has now. */
export function versionMismatch(version: number): ApiError {
  const message = 'It has been changed since: read it again, and decide again. Nothing was done.';
  return new ApiError(412, 'precondition_failed', message, { headers: { etag: entityTag(version) } });
}
