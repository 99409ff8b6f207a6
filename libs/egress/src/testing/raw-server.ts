import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A server on a loopback port that speaks raw bytes, so that a test can misbehave on purpose. */
export interface RawServer {
  readonly port: number;
  readonly url: string;
  /** Whole requests as they came, head and body. */
  readonly requests: readonly string[];
  /** Sockets ever accepted. */
  readonly connections: readonly Socket[];
  /** Of those, the ones that are not closed. */
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
