import { createServer, type Server, type Socket } from 'node:net';
import type { NumberTable } from '../workers/number-table.js';
import type { Behaviour } from './behaviour.js';
import { RECEIPT } from './receipt.js';
import { RequestReader } from './request-reader.js';

export interface OriginOptions {
  readonly port: number;
  readonly receipts: NumberTable;
  /** By endpoint; read at every request. */
  readonly behaviours: readonly Behaviour[];
  readonly now: () => number;
  readonly onAnswered: (status: number) => void;
}

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

export function createOrigin({ port, receipts, behaviours, now, onAnswered }: OriginOptions): Origin {
  const sockets = new Set<Socket>();
  let server: Server | null = null;

  function answer(socket: Socket, row: number, status: number): void {
    // A caller that is gone has not been answered.
    if (socket.destroyed || !socket.writable) return;
    socket.write(ANSWERS.get(status) ?? `HTTP/1.1 ${String(status)} Other\r\ncontent-length: 0\r\n\r\n`);
    receipts.set(row, RECEIPT.status, status);
    onAnswered(status);
  }

  function accept(socket: Socket): void {
    const reader = new RequestReader();
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      const atMs = now();
      reader.read(chunk, ({ endpoint, event, attempt, idHead }) => {
        const row = receipts.append(event, endpoint, attempt, 0, idHead, atMs);
        const behaviour = behaviours[endpoint];
        if (behaviour?.type !== 'answer') return;
        const { status, delayMs } = behaviour;
        if (delayMs === 0) answer(socket, row, status);
        else setTimeout(answer, delayMs, socket, row, status);
      });
    });
  }

  const dropConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    dropConnections,
    open: () =>
      new Promise((resolve, reject) => {
        if (server !== null) {
          resolve();
          return;
        }
        const opened = createServer({ noDelay: true }, accept);
        opened.once('error', reject);
        opened.listen({ port, host: '127.0.0.1', backlog: BACKLOG }, () => {
          server = opened;
          resolve();
        });
      }),
    close: () =>
      new Promise((resolve) => {
        dropConnections();
        if (server === null) resolve();
        else
          server.close(() => {
            resolve();
          });
        server = null;
      }),
  };
}
