import type { Socket } from 'node:net';

interface Answer {
  readonly type: 'answer';
  readonly status: number;
  readonly delayMs: number;
  /** Only one first attempt in so many is answered like that, and all other requests with 200 at once. */
  readonly every?: number;
}

/** How an endpoint treats its callers. */
export type Behavior =
  | Answer
  /** Takes the connection and the request and never answers. */
  | { readonly type: 'silent' }
  /** Its port takes no connections. */
  | { readonly type: 'refuse' }
  /** See BAD_ANSWERS. */
  | { readonly type: BadAnswer };

export const HEALTHY: Answer = { type: 'answer', status: 200, delayMs: 0 };

export function answerTo(answer: Answer, request: { readonly attempt: number; readonly idHead: number }): Answer {
  const { every = 1 } = answer;
  return every > 1 && (request.attempt > 1 || request.idHead % every > 0) ? HEALTHY : answer;
}

/** A connection of a caller, from one request to the next. */
export interface CallerConnection {
  readonly socket: Socket;
  requests: number;
  /** Runs while no request has come since the last answer. */
  idleTimer?: NodeJS.Timeout;
}

const OK = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const LAST_OK = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
const STATUS_LINE = OK.subarray(0, OK.indexOf('\r\n') + 2);
const LONG_REASON = Buffer.from(`HTTP/1.1 200 ${'x'.repeat(16_384)}\r\ncontent-length: 0\r\n\r\n`);
const TIMED_OUT = Buffer.from('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
const PAGE_BYTES = 65_536;
const PAGE = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${String(PAGE_BYTES)}\r\n\r\n${'x'.repeat(PAGE_BYTES)}`);
const TRICKLE_MS = 250;
const IDLE_MS = 50;

/** Answers that cost the sink little and a careless sender much. They return the status that the sender sees; 0: none. */
export const BAD_ANSWERS = {
  status_only: ({ socket }) => {
    socket.write(STATUS_LINE);
    return 200;
  },
  /** The status line is there after 4.25 s, the rest only after the deadline of 5 s. */
  trickle: ({ socket }) => {
    let at = 0;
    const timer = setInterval(() => socket.write(OK.subarray(at, ++at)), TRICKLE_MS);
    socket.once('close', () => {
      clearInterval(timer);
    });
    return 200;
  },
  long_reason: ({ socket }) => {
    socket.write(LONG_REASON);
    return 0;
  },
  reset: ({ socket }) => {
    socket.resetAndDestroy();
    return 0;
  },
  /** Over TLS each write is a record of its own. */
  one_byte_writes: ({ socket }) => {
    writeByteByByte(socket, OK);
    return 200;
  },
  page: ({ socket }) => {
    socket.write(PAGE);
    return 200;
  },
  /** Each attempt needs a new connection. */
  close: ({ socket }) => {
    socket.end(LAST_OK);
    return 200;
  },
  /** As a server does whose idle timeout ends while the next request is on its way. */
  close_on_reuse: ({ socket, requests }) => {
    if (requests > 1) socket.destroy();
    else socket.write(OK);
    return requests > 1 ? 0 : 200;
  },
  idle_408: (connection) => {
    const { socket } = connection;
    socket.write(OK);
    connection.idleTimer = setTimeout(() => socket.end(TIMED_OUT), IDLE_MS);
    return 200;
  },
} satisfies Record<string, (connection: CallerConnection) => number>;

export type BadAnswer = keyof typeof BAD_ANSWERS;

export function isBad(behavior: Behavior): behavior is { readonly type: BadAnswer } {
  return behavior.type in BAD_ANSWERS;
}

function writeByteByByte(socket: Socket, bytes: Buffer): void {
  if (bytes.length === 0 || !socket.writable) return;
  socket.write(bytes.subarray(0, 1), () => {
    writeByteByByte(socket, bytes.subarray(1));
  });
}
