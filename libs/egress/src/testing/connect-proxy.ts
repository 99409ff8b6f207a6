import { connect, type Socket } from 'node:net';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.js';

export interface ConnectProxy extends LoopbackServer {
  /** Heads of the requests, as received. */
  readonly requests: readonly string[];
}

/** Called with each complete request head and the port that it asks for. */
export type ProxyBehavior = (socket: Socket, targetPort: number, requestNumber: number) => void;

/** Connects to the port on 127.0.0.1, whatever address was asked for: tests have no public ones. */
export function tunnelToLoopback(socket: Socket, targetPort: number): void {
  const target = connect(targetPort, '127.0.0.1');
  target.once('connect', () => {
    socket.write('HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n');
    socket.pipe(target).pipe(socket);
  });
  target.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  socket.once('close', () => target.destroy());
}

/** A proxy on loopback that understands CONNECT only. */
export async function startConnectProxy(behave: ProxyBehavior = tunnelToLoopback): Promise<ConnectProxy> {
  const requests: string[] = [];
  const server = await startLoopbackServer((socket) => {
    socket.once('data', (bytes) => {
      const head = bytes.toString('latin1');
      requests.push(head);
      behave(socket, Number(/^CONNECT \S+:(\d+) /.exec(head)?.[1]), requests.length);
    });
  });
  return { ...server, requests };
}
