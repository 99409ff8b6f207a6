import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy in front of the server that can silence its connections, like a firewall that has dropped them. */
export interface TcpProxy {
  /** The URL of the database through the proxy. */
  readonly databaseUrl: string;
  silence(): void;
  close(): Promise<void>;
}

export async function openTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const address = new URL(databaseUrl);
  const pairs: [Socket, Socket][] = [];
  const all = new Set<Socket>();
  const server: Server = createServer((inner) => {
    const outer = connect(Number(address.port), address.hostname);
    for (const socket of [inner, outer]) socket.on('error', () => undefined);
    all.add(inner).add(outer);
    inner.pipe(outer).pipe(inner);
    pairs.push([inner, outer]);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    databaseUrl: Object.assign(new URL(address), { port: String((server.address() as AddressInfo).port) }).href,
    silence() {
      for (const [inner, outer] of pairs.splice(0)) {
        inner.unpipe(outer).pause();
        outer.unpipe(inner).pause();
      }
    },
    close() {
      for (const socket of all) socket.destroy();
      return new Promise((done) => server.close(() => done()));
    },
  };
}
