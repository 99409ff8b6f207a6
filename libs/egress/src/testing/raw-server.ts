import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A server on a loopback port that speaks raw bytes, so that a test can violate the protocol. */
export interface RawServer {
  readonly port: number;
  readonly url: string;
  /** Complete requests as received, head and body. */
  readonly requests: readonly string[];
  /** Sockets ever accepted. */
  readonly connections: readonly Socket[];
  /** The number of connections that are open. */
  openConnections(): number;
  stop(): Promise<void>;
}

/** Called with each complete request (its body as long as its content-length says). */
export type Answer = (socket: Socket, requestNumber: number) => void;

export interface RawServerPlace {
  /** Default 127.0.0.1. */
  readonly address?: string;
  /** Default: a free one. */
  readonly port?: number;
}

export function startRawServer(answer: Answer, tls?: TlsOptions, place?: RawServerPlace): Promise<RawServer> {
  const requests: string[] = [];
  const onConnection = (socket: Socket): void => {
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      for (let end = endOfRequest(received); end > 0; end = endOfRequest(received)) {
        requests.push(received.slice(0, end));
        received = received.slice(end);
        answer(socket, requests.length);
      }
    });
  };
  return listen({ onConnection, requests, tls, place });
}

/** Calls back with each connection, before anything is read from it. */
export function startConnectionServer(
  onConnection: (socket: Socket) => void,
  { scheme = 'http' }: { scheme?: 'http' | 'https' } = {},
): Promise<RawServer> {
  return listen({ onConnection, requests: [], scheme });
}

interface Listening {
  readonly onConnection: (socket: Socket) => void;
  readonly requests: readonly string[];
  readonly tls?: TlsOptions | undefined;
  readonly scheme?: 'http' | 'https';
  readonly place?: RawServerPlace | undefined;
}

function listen(listening: Listening): Promise<RawServer> {
  const { onConnection, requests, tls, place, scheme = tls === undefined ? 'http' : 'https' } = listening;
  const connections: Socket[] = [];
  const accept = (socket: Socket): void => {
    connections.push(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  };
  const server: Server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of connections) socket.destroy();
    });
  return new Promise((resolve) => {
    server.listen(place?.port ?? 0, place?.address ?? '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const url = `${scheme}://127.0.0.1:${String(port)}/hook`;
      const openConnections = (): number => connections.filter((socket) => !socket.closed).length;
      resolve({ port, url, requests, connections, openConnections, stop });
    });
  });
}

function endOfRequest(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return 0;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? 0);
  return text.length >= headEnd + 4 + length ? headEnd + 4 + length : 0;
}

/** Sends one piece per interval until the pieces or the socket end. */
export function trickle(socket: Socket, pieces: Iterable<string>, everyMs: number): void {
  const iterator = pieces[Symbol.iterator]();
  const timer = setInterval(() => {
    const next = iterator.next();
    if (next.done === true || socket.destroyed) clearInterval(timer);
    else socket.write(next.value);
  }, everyMs);
  socket.once('close', () => {
    clearInterval(timer);
  });
}

/** Writes the piece again and again, as fast as the other side reads it. */
export function flood(socket: Socket, piece: string): void {
  const block = piece.repeat(Math.ceil(16_384 / piece.length));
  const fill = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', fill);
  fill();
}

export function* endlessly(piece: string): Generator<string> {
  for (;;) yield piece;
}

/** Splits a text into non-empty pieces at these positions (each modulo its length). */
export function cut(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((place) => place % (text.length + 1)))].sort((left, right) => left - right);
  return [0, ...places]
    .map((from, index) => text.slice(from, places[index] ?? text.length))
    .filter((piece) => piece !== '');
}
