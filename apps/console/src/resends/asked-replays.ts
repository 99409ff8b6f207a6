import type { Replay } from '@waypost/client';
import { isMissing } from '../shared/is-missing.js';
import { isOver } from './resend-batch.js';

export interface AskedReplay {
  readonly replayId: string;
  /** undefined: it was not asked for so far. */
  readonly state:
    | {
        readonly data?: Replay | undefined;
        readonly error: Error | null;
        readonly fetchStatus: string;
        readonly dataUpdatedAt: number;
        readonly errorUpdatedAt: number;
      }
    | undefined;
}

/** Of what the key may ask in a second, little. */
export const ASKED_PER_SECOND = 20;

/** Which replays to ask for in this second: of those that are neither over nor gone, the ones whose answer is the oldest. */
export function askedNext(replays: readonly AskedReplay[]): readonly string[] {
  return replays
    .flatMap(({ replayId, state }) =>
      state !== undefined && isOpen(state) ? [{ replayId, atMs: answeredAt(state) }] : [],
    )
    .toSorted((one, other) => one.atMs - other.atMs)
    .slice(0, ASKED_PER_SECOND)
    .map(({ replayId }) => replayId);
}

type State = NonNullable<AskedReplay['state']>;

function isOpen({ data, error, fetchStatus }: State): boolean {
  return fetchStatus === 'idle' && !isMissing(error) && !(data && isOver(data));
}

function answeredAt({ dataUpdatedAt, errorUpdatedAt }: State): number {
  return Math.max(dataUpdatedAt, errorUpdatedAt);
}
