import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ConnectProxy {
  readonly port: number;
  /** Heads of the requests, as received. */
  readonly requests: readonly string[];
  /** The number of client connections that are open. */
  openConnections(): number;
  stop(): Promise<void>;
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
export function startConnectProxy(behave: ProxyBehavior = tunnelToLoopback): Promise<ConnectProxy> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    socket.once('data', (bytes) => {
      const head = bytes.toString('latin1');
      requests.push(head);
      behave(socket, Number(/^CONNECT \S+:(\d+) /.exec(head)?.[1]), requests.length);
    });
  });
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of sockets) socket.destroy();
    });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({ port, requests, openConnections: () => sockets.size, stop });
    });
  });
}
