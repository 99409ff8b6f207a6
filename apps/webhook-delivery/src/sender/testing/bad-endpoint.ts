import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What an endpoint does with each request, once its head is there. */
export type Manners = (socket: Socket, requestNumber: number) => void;

export interface BadEndpoint {
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: number;
  close(): Promise<void>;
}

const answer = (status: string): string => `HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`;

export const accepting: Manners = (socket) => void socket.write(answer('200 OK'));

export const acceptingAfter =
  (ms: number): Manners =>
  (socket) =>
    void setTimeout(() => socket.write(answer('200 OK')), ms);

/** Takes everything and never says a word. */
export const silent: Manners = () => undefined;

/** Accepts every second request and closes upon the others. */
export const flapping: Manners = (socket, requestNumber) => {
  if (requestNumber % 2 === 0) socket.write(answer('200 OK'));
  else socket.destroy();
};

/** One byte of a status line a second. */
export const trickling: Manners = (socket) => {
  const bytes = [...Buffer.from(answer('200 OK'))].map((byte) => Buffer.of(byte));
  const timer = setInterval(() => socket.write(bytes.shift() ?? 'x'), 1_000);
  socket.once('close', () => {
    clearInterval(timer);
  });
};

/** Accepts, and goes on with a body that never ends. */
export const neverEnding: Manners = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  const timer = setInterval(() => socket.write('400\r\n' + 'x'.repeat(1024) + '\r\n'), 1);
  socket.once('close', () => {
    clearInterval(timer);
  });
};

export const startEndpoint = async (manners: Manners): Promise<BadEndpoint> => {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    // A request of these tests comes in one piece.
    socket.on('data', (bytes) => {
      if (bytes.toString('latin1').startsWith('POST ')) manners(socket, ++requests);
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    get connections() {
      return sockets.size;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
};

/** Where nobody listens: a port that was free a moment ago. */
export const refusingUrl = async (): Promise<string> => {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${String(port)}/hook`;
};

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
