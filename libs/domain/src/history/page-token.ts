import { createHmac, timingSafeEqual } from 'node:crypto';
import { decodeBase64url, keyIdOf, type Keys, newestKey } from '../secret/sealed-secret.js';
import { DAY_MS } from '../time/units.js';
import type { DeliveryWalkPosition } from './delivery-history.js';
import type { PathWalkPosition } from './path-history.js';

export const PAGE_TOKEN_LIFETIME_MS = DAY_MS;

const VERSION = 2;
const VERSION_WITHOUT_KEY_ID = 1;
const KEY_ID_BYTES = 4;
const MAC_BYTES = 32;
const MAX_TOKEN_LENGTH = 4_096;

export interface PageToken<Position> {
  readonly position: Position;
  readonly fleetId: string;
  readonly queryFingerprint: string;
  readonly issuedAt: number;
}

export type PageTokenRefusal = 'malformed' | 'other_version' | 'forged' | 'other_fleet' | 'other_query' | 'expired';

export type OpenedPageToken<Position> =
  | { readonly type: 'opened'; readonly position: Position }
  | { readonly type: 'refused'; readonly reason: PageTokenRefusal };

export interface ExpectedPageToken {
  readonly fleetId: string;
  readonly queryFingerprint: string;
  readonly nowMs: number;
}

/** page tokens of one kind of list. The query must name the list: its fingerprint separates the kinds. */
export interface PageTokens<Position> {
  /** base64url of version, key id, HMAC-SHA256 and content: readable, but only the key can create or change one. */
  seal(token: PageToken<Position>, keys: Keys): string;
  open(token: string, expected: ExpectedPageToken, keys: Keys): OpenedPageToken<Position>;
}

type PositionFields = readonly unknown[];

/** How a token encodes a position. Released forms stay: tokens outlive a deployment. */
interface PositionForm<Position, Fields extends PositionFields> {
  readonly fieldsOf: (position: Position) => Fields;
  readonly positionOf: (fields: Fields) => Position;
  readonly maxLength?: number;
}

type Payload<Fields extends PositionFields> = readonly [
  fleetId: string,
  fingerprint: string,
  issuedAt: number,
  ...position: Fields,
];

export function createPageTokens<Position, Fields extends PositionFields>({
  fieldsOf,
  positionOf,
  maxLength = MAX_TOKEN_LENGTH,
}: PositionForm<Position, Fields>): PageTokens<Position> {
  return {
    seal({ position, fleetId, queryFingerprint, issuedAt }, keys) {
      const payload: Payload<Fields> = [fleetId, queryFingerprint, issuedAt, ...fieldsOf(position)];
      const bytes = Buffer.from(JSON.stringify(payload));
      const key = newestKey(keys);
      const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(keyIdOf(key), 'hex')]);
      return Buffer.concat([head, macOf(head, bytes, key), bytes]).toString('base64url');
    },
    open(token, expected, keys) {
      const payload = token.length > maxLength ? refused('malformed') : payloadOf(token, keys);
      if (!Buffer.isBuffer(payload)) return payload;
      // Only seal() can have written what the MAC covers.
      const [fleetId, fingerprint, issuedAt, ...fields] = JSON.parse(payload.toString()) as Payload<PositionFields>;
      if (fleetId !== expected.fleetId) return refused('other_fleet');
      if (fingerprint !== expected.queryFingerprint) return refused('other_query');
      if (expected.nowMs - issuedAt >= PAGE_TOKEN_LIFETIME_MS) return refused('expired');
      return { type: 'opened', position: positionOf(fields as unknown as Fields) };
    },
  };
}

export const deliveryPageTokens = createPageTokens<
  DeliveryWalkPosition,
  [
    firstAttemptAt: number,
    eventId: string,
    series: number,
    isWaiting?: 0 | 1,
    startAt?: number | null,
    completeUntil?: number | null,
  ]
>({
  fieldsOf: ({ firstAttemptAt, eventId, series, isWaiting, startAt, completeUntil }) => [
    firstAttemptAt,
    eventId,
    series,
    isWaiting === true ? 1 : 0,
    startAt ?? null,
    ...(completeUntil === undefined ? ([] as const) : ([completeUntil] as const)),
  ],
  positionOf: ([firstAttemptAt, eventId, series, isWaiting, startAt, completeUntil]) => ({
    firstAttemptAt,
    eventId,
    series,
    ...(isWaiting === 1 ? { isWaiting: true } : {}),
    ...(startAt == null ? {} : { startAt }),
    ...(completeUntil === undefined ? {} : { completeUntil }),
  }),
});

export const pathPageTokens = createPageTokens<
  PathWalkPosition,
  [startAt: number, deviceId: string, eventTime: number]
>({
  fieldsOf: ({ startAt, deviceId, eventTime }) => [startAt, deviceId, eventTime],
  positionOf: ([startAt, deviceId, eventTime]) => ({ startAt, deviceId, eventTime }),
});

/** Tokens of lists, each with its own JSON positions. */
export const listPageTokens = createPageTokens<unknown, [position: unknown]>({
  fieldsOf: (position) => [position],
  positionOf: ([position]) => position,
});

function payloadOf(token: string, keys: Keys): Buffer | Refused {
  const bytes = decodeBase64url(token);
  const version = bytes?.at(0);
  if (bytes === null || version === undefined) return refused('malformed');
  if (version !== VERSION && version !== VERSION_WITHOUT_KEY_ID) return refused('other_version');
  const headBytes = version === VERSION ? 1 + KEY_ID_BYTES : 1;
  if (bytes.length <= headBytes + MAC_BYTES) return refused('malformed');
  const head = bytes.subarray(0, headBytes);
  const mac = bytes.subarray(headBytes, headBytes + MAC_BYTES);
  const payload = bytes.subarray(headBytes + MAC_BYTES);
  const keyId = head.toString('hex', 1);
  const candidates = version === VERSION ? keys.filter((key) => keyIdOf(key) === keyId) : keys;
  const isOurs = candidates.some((key) => timingSafeEqual(mac, macOf(head, payload, key)));
  return isOurs ? payload : refused('forged');
}

type Refused = Extract<OpenedPageToken<never>, { readonly type: 'refused' }>;

function refused(reason: PageTokenRefusal): Refused {
  return { type: 'refused', reason };
}

/** The version is authenticated too: bytes of one version never pass as another's. */
function macOf(head: Buffer, payload: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(head).update(payload).digest();
}
