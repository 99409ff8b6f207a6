import { describe, expect, it } from '@jest/globals';
import { type Replay, WaypostApiError } from '@waypost/client';
import { ASKED_PER_SECOND, askedNext, type AskedReplay } from './asked-replays.js';

function replay(replayId: string, state: Partial<NonNullable<AskedReplay['state']>> = {}): AskedReplay {
  const idle = { error: null, fetchStatus: 'idle', dataUpdatedAt: 1_000, errorUpdatedAt: 0 };
  return { replayId, state: { ...idle, ...state } };
}

function inState(state: string): { readonly data: Replay } {
  return { data: { state } as Replay };
}

const GONE = new WaypostApiError(
  { status: 404, code: 'not_found', message: '', details: [], requestId: null, retryAfterMs: null },
  1,
);

describe('the replays of a resend that are asked for in a second (R-30)', () => {
  it('are those with the oldest answer, so that each has its turn', () => {
    const newer = replay('newer', { dataUpdatedAt: 3_000 });
    const failed = replay('failed', { error: new Error('offline'), errorUpdatedAt: 2_000 });
    expect(askedNext([newer, failed, replay('old', inState('running'))])).toEqual(['old', 'failed', 'newer']);
  });

  it('are not those that are over, gone or being asked for', () => {
    const others = [
      replay('completed', inState('completed')),
      replay('cancelled', inState('cancelled')),
      replay('gone', { error: GONE }),
      replay('asked for', { fetchStatus: 'fetching' }),
      { replayId: 'unknown', state: undefined },
    ];
    expect(askedNext([...others, replay('open', inState('pending'))])).toEqual(['open']);
  });

  it('go on being read while more of them are begun, and are as many as before', () => {
    const answeredAt = new Map<string, number>();
    for (let second = 1; second <= 50; second += 1) {
      // As fast as the service begins them.
      for (let more = 0; more < 20; more += 1) answeredAt.set(`${String(second)}-${String(more)}`, second);
      const states = [...answeredAt].map(([id, at]) => replay(id, { ...inState('running'), dataUpdatedAt: at }));
      const asked = askedNext(states);
      expect(asked).toHaveLength(ASKED_PER_SECOND);
      for (const id of asked) answeredAt.set(id, second);
    }
    const waited = [...answeredAt.values()].map((at) => 50 - at);
    expect(Math.max(...waited)).toBeLessThan(50);
  });
});
