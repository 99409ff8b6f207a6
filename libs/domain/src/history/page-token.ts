import { createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../domain-error.js';
import { decodeBase64url } from '../secret/base64url.js';
import type { DeliveryPosition } from './delivery-history.js';

/** How long a token opens. */
export const PAGE_TOKEN_LIFETIME_MS = 24 * 3_600_000;

const VERSION = 1;
const MAC_BYTES = 32;
const KEY_BYTES = 32;
/** Far above what is ever issued, so that a huge one costs nothing. */
const MAX_TOKEN_LENGTH = 4_096;

/** What a token says: where the next page starts, for whom and for which query. */
export interface PageToken {
  readonly position: DeliveryPosition;
  readonly fleetId: string;
  /** By queryFingerprint. */
  readonly queryFingerprint: string;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
}

export type PageTokenRefusal = 'malformed' | 'other_version' | 'forged' | 'other_fleet' | 'other_query' | 'expired';

export type OpenedPageToken =
  | { readonly type: 'opened'; readonly position: DeliveryPosition }
  | { readonly type: 'refused'; readonly reason: PageTokenRefusal };

type Payload = readonly [
  fleetId: string,
  fingerprint: string,
  issuedAt: number,
  at: number,
  id: string,
  series: number,
];

/**
 * A page token: base64url of a version byte, an HMAC-SHA256 and what it says. It can be read but not made or changed
 * without the key; it holds nothing that its owner does not know.
 *
 * @param key 32 bytes
 */
export function sealPageToken({ position, fleetId, queryFingerprint, issuedAt }: PageToken, key: Buffer): string {
  const { firstAttemptAt, eventId, series } = position;
  const payload: Payload = [fleetId, queryFingerprint, issuedAt, firstAttemptAt, eventId, series];
  const bytes = Buffer.from(JSON.stringify(payload));
  return Buffer.concat([Buffer.of(VERSION), macOf(bytes, key), bytes]).toString('base64url');
}

/** Where the next page starts, if `token` was made with `key` for this fleet and query less than a day ago. */
export function openPageToken(
  token: string,
  expected: { readonly fleetId: string; readonly queryFingerprint: string; readonly nowMs: number },
  key: Buffer,
): OpenedPageToken {
  const bytes = token.length > MAX_TOKEN_LENGTH ? null : decodeBase64url(token);
  const version = bytes?.at(0);
  if (bytes === null || version === undefined) return refused('malformed');
  if (version !== VERSION) return refused('other_version');
  if (bytes.length <= 1 + MAC_BYTES) return refused('malformed');
  const payload = bytes.subarray(1 + MAC_BYTES);
  if (!timingSafeEqual(bytes.subarray(1, 1 + MAC_BYTES), macOf(payload, key))) return refused('forged');
  // Only sealPageToken can have written what the MAC covers.
  const [fleetId, fingerprint, issuedAt, firstAttemptAt, eventId, series] = JSON.parse(payload.toString()) as Payload;
  if (fleetId !== expected.fleetId) return refused('other_fleet');
  if (fingerprint !== expected.queryFingerprint) return refused('other_query');
  if (expected.nowMs - issuedAt >= PAGE_TOKEN_LIFETIME_MS) return refused('expired');
  return { type: 'opened', position: { firstAttemptAt, eventId, series } };
}

function refused(reason: PageTokenRefusal): OpenedPageToken {
  return { type: 'refused', reason };
}

/** The version is part of what is authenticated: bytes of one version never pass as another's. */
function macOf(payload: Buffer, key: Buffer): Buffer {
  if (key.length !== KEY_BYTES) {
    const found = String(key.length);
    throw new DomainError(
      'bad_key',
      `The page token key has ${found} bytes instead of ${String(KEY_BYTES)}: make one with "openssl rand -base64 32".`,
    );
  }
  return createHmac('sha256', key).update(Buffer.of(VERSION)).update(payload).digest();
}
