import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** What an endpoint does with each request, once its head has arrived. */
export type Behavior = (socket: Socket, requestNumber: number) => void;

export interface TestEndpoint {
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: number;
  close(): Promise<void>;
}

function answer(status: string): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`;
}

export const accepting: Behavior = (socket) => void socket.write(answer('200 OK'));

export function acceptingAfter(ms: number): Behavior {
  return (socket) => void setTimeout(() => socket.write(answer('200 OK')), ms);
}

/** Reads everything and never responds. */
export const silent: Behavior = () => undefined;

/** Accepts every second request and closes the connection on the others. */
export const flapping: Behavior = (socket, requestNumber) => {
  if (requestNumber % 2 === 0) socket.write(answer('200 OK'));
  else socket.destroy();
};

/** One byte of a status line per second. */
export const trickling: Behavior = (socket) => {
  const bytes = [...Buffer.from(answer('200 OK'))].map((byte) => Buffer.of(byte));
  const timer = setInterval(() => socket.write(bytes.shift() ?? 'x'), 1_000);
  socket.once('close', () => {
    clearInterval(timer);
  });
};

/** Accepts, and sends a body that never ends. */
export const neverEnding: Behavior = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  const timer = setInterval(() => socket.write('400\r\n' + 'x'.repeat(1024) + '\r\n'), 1);
  socket.once('close', () => {
    clearInterval(timer);
  });
};

/** Accepts, and does not send the body that it announces. */
export const withoutBody: Behavior = (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n');

export async function startEndpoint(behavior: Behavior): Promise<TestEndpoint> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    // A request of these tests arrives in one piece.
    socket.on('data', (bytes) => {
      if (bytes.toString('latin1').startsWith('POST ')) behavior(socket, ++requests);
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
}

/** A URL that nothing listens on: its port was free a moment ago. */
export async function refusingUrl(): Promise<string> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${String(port)}/hook`;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}
