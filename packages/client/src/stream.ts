import { errorResponse, WaypostApiError } from './errors.js';
import { createEventParser, type ParsedEvent } from './event-parser.js';
import type { Streams } from './generated/api.js';
import { backOffMs, isTemporary, MAX_DELAY_MS, type RetryOptions, sleep } from './retries.js';

export type StreamId = keyof Streams;
export type StreamInput<Id extends StreamId> = Streams[Id]['input'];

export interface StreamEvent<Id extends StreamId> {
  /** Continues after this event as `lastEventId`. */
  readonly id: string;
  readonly data: Streams[Id]['event'];
}

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /** The id of the last event that was read, or the last one of `onPosition`; without it the stream begins now. */
  readonly lastEventId?: string;
  /** The id to continue after where no event has it: as the stream begins, and past what the filters leave out. */
  readonly onPosition?: (id: string) => void;
  /** When events can arrive, and when the connection is lost and being made again; with the refusal, if it was one. */
  readonly onConnection?: (state: 'open' | 'lost', refusal?: WaypostApiError) => void;
}

/** The service writes every 15 s; a connection that is silent for longer, or that is not made in that time, is dead, whatever TCP knows of it. */
const SILENT_MS = 45_000;

export interface StreamRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly send: typeof fetch;
  readonly retry: RetryOptions;
}

/**
 * The events of a stream that has no end: when the connection is lost, it is made again after the last event,
 * or from where the stream was when it had none.
 * @throws WaypostApiError for a refusal that would be the same again, or the reason of the signal
 */
export async function* followStream(
  request: StreamRequest,
  { signal, lastEventId, onPosition, onConnection }: StreamOptions,
): AsyncGenerator<{ readonly id: string; readonly data: unknown }, void> {
  let lastId = lastEventId ?? '';
  for (let failures = 1; ; failures++) {
    signal?.throwIfAborted();
    const connection = await connect(request, lastId, signal);
    let refusal: WaypostApiError | undefined;
    if (connection.type === 'refused') {
      refusal = new WaypostApiError(connection.response, failures);
      if (!isTemporary(connection, true)) throw refusal;
    } else if (connection.type === 'open') {
      onConnection?.('open');
      let isFirst = true;
      for await (const { id, data } of connection.events) {
        // Each connection begins with an id, also one that ends at once.
        if (data !== null || !isFirst) failures = 1;
        isFirst = false;
        lastId = id;
        if (data === null) onPosition?.(id);
        else yield { id, data: JSON.parse(data) as unknown };
      }
    }
    signal?.throwIfAborted();
    onConnection?.('lost', refusal);
    const { maxDelayMs = MAX_DELAY_MS } = request.retry;
    const asked = Math.min(refusal?.retryAfterMs ?? 0, maxDelayMs);
    await sleep(Math.max(backOffMs(failures, request.retry), asked), signal);
  }
}

type Connection =
  | { readonly type: 'open'; readonly events: AsyncGenerator<ParsedEvent, void> }
  | { readonly type: 'refused'; readonly response: ReturnType<typeof errorResponse> }
  | { readonly type: 'unreachable' };

async function connect(
  { url, headers, send }: StreamRequest,
  lastId: string,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENT_MS);
  try {
    const response = await send(url, {
      headers: { ...headers, accept: 'text/event-stream', ...(lastId !== '' && { 'last-event-id': lastId }) },
      redirect: 'error',
      signal: signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]),
    });
    if (response.ok && response.body !== null) return { type: 'open', events: eventsOf(response.body, silence) };
    const body = await response.json().catch(() => undefined);
    return { type: 'refused', response: errorResponse(response, body, Date.now()) };
  } catch {
    return { type: 'unreachable' };
  } finally {
    clearTimeout(timer);
  }
}

/** Ends when the connection does. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<ParsedEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parse = createEventParser();
  try {
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENT_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } catch {
    // Lost, silent or aborted: who called asks the signal which.
  } finally {
    // Not read to its end, it would stay open.
    silence.abort();
  }
}
