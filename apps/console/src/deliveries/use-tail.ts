import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { StreamInput } from '@waypost/client';
import { useClient } from '../session/session.js';
import { ArrivedAttempts, NO_ROWS, type StreamedAttempt, type TailRows } from './tail-buffer.js';

const MAX_ROWS = 1_000;
/** Further down than this, somebody reads: rows must not move under them. */
const READING_PX = 160;
/** Faster than a person reads. Where much arrives, each drawing replaces all rows in sight, which takes most of a frame. */
const DRAW_EVERY_MS = 100;

interface Connection {
  readonly state: 'connecting' | 'open' | 'lost';
  /** Why it was not made, where the API said so: there are too many, for example. */
  readonly refusal: string | null;
}

const CONNECTING: Connection = { state: 'connecting', refusal: null };

export interface Tail extends TailRows {
  readonly isRunning: boolean;
  readonly connection: Connection;
  /** Arrived while somebody reads further down. */
  readonly waiting: number;
  readonly error: Error | null;
  readonly stop: () => void;
  /** Continues where it stopped, not from now. */
  readonly start: () => void;
  readonly showWaiting: () => void;
}

/** Follows the attempts of a filter. What it holds stays when it is stopped, and while another page is looked at. */
export function useTail(query: StreamInput<'streamAttempts'>, address: string): Tail {
  const client = useClient();
  const { tail, waiting, push, show, place } = useArrivals(address);
  const [isRunning, setIsRunning] = useState(tail.rows.length === 0);
  const [connection, setConnection] = useState(CONNECTING);
  const [error, setError] = useState<Error | null>(null);

  useEffect(() => {
    if (!isRunning) return;
    const aborting = new AbortController();
    const { signal } = aborting;
    const from = place.current;
    setConnection(CONNECTING);
    setError(null);
    async function follow(): Promise<void> {
      const onConnection = (state: 'open' | 'lost', refusal?: Error): void =>
        setConnection({ state, refusal: refusal?.message ?? null });
      const onPosition = (id: string): void => void (place.current = id);
      const options = { signal, onConnection, onPosition, ...(from !== '' && { lastEventId: from }) };
      for await (const attempt of client.stream('streamAttempts', query, options)) push(attempt);
    }
    follow().catch((reason: unknown) => {
      if (signal.aborted) return;
      setError(reason as Error);
      setIsRunning(false);
    });
    return () => aborting.abort();
    // The address stands for the query.
  }, [client, address, isRunning, push, place]);

  return {
    ...tail,
    isRunning,
    connection,
    waiting,
    error,
    stop: () => setIsRunning(false),
    start: () => setIsRunning(true),
    showWaiting: show,
  };
}

interface KeptTail {
  readonly rows: TailRows;
  /** The id to continue after; '': it has not begun. */
  readonly place: string;
}

/** What arrives alone is shown at once, and of much that arrives, many at a time: a thousand attempts cost a few drawings. */
function useArrivals(address: string) {
  const queries = useQueryClient();
  const [kept] = useState(() => queries.getQueryData<KeptTail>(['tail', address]));
  const [tail, setTail] = useState(kept?.rows ?? NO_ROWS);
  const place = useRef(kept?.place ?? '');
  const [waiting, setWaiting] = useState(0);
  const newest = useRef(tail);
  const [arrived] = useState(() => new ArrivedAttempts(MAX_ROWS));
  const frame = useRef(0);
  const drawnAtMs = useRef(-DRAW_EVERY_MS);

  const show = useCallback(() => {
    newest.current = arrived.moveInto(newest.current);
    setTail(newest.current);
    setWaiting(0);
  }, [arrived]);

  const draw = useCallback(
    (frameAtMs: number) => {
      if (frameAtMs < drawnAtMs.current + DRAW_EVERY_MS) {
        frame.current = requestAnimationFrame(draw);
        return;
      }
      frame.current = 0;
      drawnAtMs.current = frameAtMs;
      if (scrollY > READING_PX) setWaiting(arrived.size);
      else show();
    },
    [arrived, show],
  );

  const push = useCallback(
    (attempt: StreamedAttempt) => {
      arrived.add(attempt);
      place.current = attempt.id;
      if (frame.current === 0) frame.current = requestAnimationFrame(draw);
    },
    [arrived, draw],
  );

  useEffect(
    () => () => {
      cancelAnimationFrame(frame.current);
      frame.current = 0;
      newest.current = arrived.moveInto(newest.current);
      queries.setQueryData<KeptTail>(['tail', address], { rows: newest.current, place: place.current });
    },
    [arrived, queries, address],
  );

  return { tail, waiting, push, show, place };
}
