import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface LoopbackServer {
  readonly port: number;
  /** The number of client connections that are open. */
  openConnections(): number;
  stop(): Promise<void>;
}

/** Listens on a port of 127.0.0.1. `stop` ends its connections, too. */
export function startLoopbackServer(onConnection: (client: Socket) => void): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined).once('close', () => sockets.delete(client));
    onConnection(client);
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
      resolve({ port, openConnections: () => sockets.size, stop });
    });
  });
}
