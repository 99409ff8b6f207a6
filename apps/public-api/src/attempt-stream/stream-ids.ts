import { type Keys, queryFingerprint, streamPositionTokens } from '@waypost/domain';
import type { LogPosition } from './attempt-log-reader.js';

/** StreamIds */
export const STREAM_IDS = Symbol('stream ids');

export type ReadStreamId =
  | { readonly type: 'position'; readonly position: LogPosition }
  | { readonly type: 'refused'; readonly message: string };

/** The ids of the events of a stream: the offsets of all partitions after the event, sealed for the fleet. */
export interface StreamIds {
  idOf(position: LogPosition, fleetId: string): string;
  read(id: string, fleetId: string): ReadStreamId;
}

/** The same for any filters: a position is one of the whole log. */
const FINGERPRINT = queryFingerprint({ path: '/public/v2/stream' });
/** An id has no end of its own: what has left the log is skipped. So equal positions have equal ids. */
const TIMELESS_MS = 0;

export function createStreamIds(keys: Keys): StreamIds {
  return {
    idOf: (position, fleetId) =>
      streamPositionTokens.seal({ position, fleetId, queryFingerprint: FINGERPRINT, issuedAt: TIMELESS_MS }, keys),
    read(id, fleetId) {
      const opened = streamPositionTokens.open(
        id,
        { fleetId, queryFingerprint: FINGERPRINT, nowMs: TIMELESS_MS },
        keys,
      );
      if (opened.type === 'opened') return { type: 'position', position: opened.position };
      return { type: 'refused', message: opened.reason === 'other_fleet' ? OF_ANOTHER_FLEET : NOT_OURS };
    },
  };
}

const NOT_OURS = 'must be the id of an event of this stream: connect without it to begin now';
const OF_ANOTHER_FLEET = "is the id of an event of another fleet's stream";
