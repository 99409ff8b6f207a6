import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { Certificate } from '../stack/receivers.js';
import type { NumberTable } from '../workers/number-table.js';
import { answerTo, BAD_ANSWERS, type Behavior, type CallerConnection, HEALTHY, isBad } from './behaviors.js';

/** The columns of what the sink remembers of each request. */
export const RECEIPT = {
  /** The number that the load generator has put into the event; -1: the body has none. */
  event: 0,
  endpoint: 1,
  /** Of the header; 0: it was missing. */
  attempt: 2,
  /** What was answered; 0: nothing, so far or for ever. */
  status: 3,
  /** The first 32 bits of the event id, to tell whether it stays the same over attempts. */
  idHead: 4,
  receivedMs: 5,
} as const;

export const RECEIPT_WIDTH = 6;

export interface OriginOptions {
  readonly port: number;
  readonly receipts: NumberTable;
  /** By endpoint; read at every request. */
  readonly behaviors: readonly Behavior[];
  readonly now: () => number;
  readonly onAnswered: (status: number) => void;
  /** For callers that begin with TLS; the same port also speaks plain HTTP. */
  readonly secureContext?: SecureContext | undefined;
}

export function secureContextOf({ key, cert }: Certificate): SecureContext {
  return createSecureContext({ key, cert });
}

/** The type of the record that begins a TLS connection (RFC 8446, section 5.1). */
const TLS_HANDSHAKE = 0x16;

/** One port of the sink, with one endpoint or several. */
export interface Origin {
  open(): Promise<void>;
  /** Refuses connections from now on, and drops those there are. */
  close(): Promise<void>;
  dropConnections(): void;
}

const BACKLOG = 1_024;
const ANSWERS = new Map([
  [200, Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')],
  [503, Buffer.from('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n')],
]);

export function createOrigin(options: OriginOptions): Origin {
  const { port, receipts, behaviors, now, onAnswered, secureContext } = options;
  const sockets = new Set<Socket>();
  let server: Server | null = null;

  function answer(socket: Socket, row: number, status: number): void {
    // A caller that is gone has not been answered.
    if (socket.destroyed || !socket.writable) return;
    socket.write(ANSWERS.get(status) ?? `HTTP/1.1 ${String(status)} Other\r\ncontent-length: 0\r\n\r\n`);
    count(row, status);
  }

  function count(row: number, status: number): void {
    receipts.set(row, RECEIPT.status, status);
    if (status > 0) onAnswered(status);
  }

  function accept(socket: Socket): void {
    track(socket);
    socket.once('data', (first: Buffer) => {
      const secure = securedBy(secureContext, socket, first);
      if (secure !== null) track(secure);
      serve(secure ?? socket, secure === null ? first : undefined);
    });
  }

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  }

  function serve(socket: Socket, first?: Buffer): void {
    const reader = new RequestReader();
    const connection: CallerConnection = { socket, requests: 0 };
    const read = (chunk: Buffer): void => {
      reader.read(chunk, (request) => {
        const { endpoint, event, attempt, idHead } = request;
        const row = receipts.append(event, endpoint, attempt, 0, idHead, now());
        connection.requests += 1;
        clearTimeout(connection.idleTimer);
        const behavior = behaviors[endpoint] ?? HEALTHY;
        if (isBad(behavior)) count(row, BAD_ANSWERS[behavior.type](connection));
        if (behavior.type !== 'answer') return;
        const { status, delayMs } = answerTo(behavior, request);
        if (delayMs === 0) answer(socket, row, status);
        else setTimeout(answer, delayMs, socket, row, status);
      });
    };
    if (first !== undefined) read(first);
    socket.on('data', read);
  }

  const dropConnections = (): void => sockets.forEach((socket) => socket.destroy());

  return {
    dropConnections,
    open: async () => {
      server ??= await listening(createServer({ noDelay: true }, accept), port);
    },
    close: async () => {
      dropConnections();
      const closing = server;
      server = null;
      await closed(closing);
    },
  };
}

function closed(server: Server | null): Promise<unknown> {
  return new Promise((resolve) => server?.close(resolve) ?? resolve(null));
}

/** null: the caller speaks plain HTTP. */
function securedBy(secureContext: SecureContext | undefined, socket: Socket, first: Buffer): TLSSocket | null {
  if (first[0] !== TLS_HANDSHAKE || secureContext === undefined) return null;
  socket.pause();
  socket.unshift(first);
  return new TLSSocket(socket, { isServer: true, secureContext });
}

function listening(server: Server, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', backlog: BACKLOG }, () => {
      resolve(server);
    });
  });
}

/** A request as far as the sink looks at it. */
export interface SinkRequest {
  /** The number at the end of the path. */
  readonly endpoint: number;
  readonly attempt: number;
  readonly idHead: number;
  readonly event: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const ENDPOINT = /^[A-Z]+ \/hook\/(\d+) /;
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const ATTEMPT = /\r\nx-service-attempt: *(\d+)/i;
const ID = /\r\nwebhook-id: *([0-9a-f]{8})/i;
/** How the load generator names a device: it is in every body. */
export const EVENT_MARK = 'bench-';
const EVENT_MARK_BYTES = Buffer.from(EVENT_MARK);
export const EVENT_DIGITS = 12;

/**
 * Splits the bytes of one connection into requests. Reads no more of HTTP than a client sends that knows the length of
 * its body, so that receiving costs next to nothing beside sending.
 */
export class RequestReader {
  private waiting: Buffer | null = null;

  /** @throws Error when the bytes are no request with a content-length */
  read(chunk: Buffer, take: (request: SinkRequest) => void): void {
    let bytes = this.waiting === null ? chunk : Buffer.concat([this.waiting, chunk]);
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END);
      if (headEnd < 0) break;
      const head = bytes.toString('latin1', 0, headEnd);
      const length = LENGTH.exec(head)?.[1];
      if (length === undefined) throw new Error('A request without content-length.');
      const bodyStart = headEnd + HEAD_END.length;
      const end = bodyStart + Number(length);
      if (bytes.length < end) break;
      take({
        endpoint: Number(ENDPOINT.exec(head)?.[1] ?? -1),
        attempt: Number(ATTEMPT.exec(head)?.[1] ?? 0),
        idHead: Number.parseInt(ID.exec(head)?.[1] ?? '0', 16),
        event: eventOf(bytes, bodyStart, end),
      });
      bytes = bytes.subarray(end);
    }
    this.waiting = bytes.length === 0 ? null : bytes;
  }
}

function eventOf(bytes: Buffer, from: number, end: number): number {
  const mark = bytes.indexOf(EVENT_MARK_BYTES, from);
  const digits = mark + EVENT_MARK.length;
  if (mark < 0 || digits + EVENT_DIGITS > end) return -1;
  return Number(bytes.toString('latin1', digits, digits + EVENT_DIGITS));
}
