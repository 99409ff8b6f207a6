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
  stop(): Promise<void>;
}

/** Called with each complete request (its body as long as its content-length says). */
export type Answer = (socket: Socket, requestNumber: number) => void;

export function startRawServer(answer: Answer, tls?: TlsOptions): Promise<RawServer> {
  const requests: string[] = [];
  const connections: Socket[] = [];
  const onConnection = (socket: Socket): void => {
    connections.push(socket);
    let received = '';
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('data', (text: string) => {
      received += text;
      for (let end = endOfRequest(received); end > 0; end = endOfRequest(received)) {
        requests.push(received.slice(0, end));
        received = received.slice(end);
        answer(socket, requests.length);
      }
    });
  };
  const server: Server = tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection);
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of connections) socket.destroy();
    });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const scheme = tls === undefined ? 'http' : 'https';
      resolve({ port, url: `${scheme}://127.0.0.1:${String(port)}/hook`, requests, connections, stop });
    });
  });
}

function endOfRequest(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return 0;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? 0);
  return text.length >= headEnd + 4 + length ? headEnd + 4 + length : 0;
}
