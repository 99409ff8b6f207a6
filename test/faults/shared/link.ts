import { connect, createServer, type Server, type Socket } from 'node:net';

/** How the network between a processor and a broker behaves at the moment. */
export interface LinkShape {
  readonly delayMs: number;
  /** null: as fast as it goes. */
  readonly bytesPerSecond: number | null;
  /** Nothing passes in either direction, and neither side is notified of what happens to the other. */
  readonly hole: boolean;
}

/** A TCP way from one port to another whose behavior can be changed while it is in use. It rewrites nothing. */
export interface Link {
  shape(shape: Partial<LinkShape>): void;
  /** Back to an undisturbed way; what a hole has kept back is delivered. */
  heal(): void;
  /** Resets every connection. */
  cut(): void;
  close(): Promise<void>;
}

const UNDISTURBED: LinkShape = { delayMs: 0, bytesPerSecond: null, hole: false };
const MOST_KEPT_BYTES = 4 * 1024 * 1024;
const LARGEST_PIECE = 4_096;

interface Lane {
  pump(): void;
}

export async function openLink(listenPort: number, targetPort: number): Promise<Link> {
  let shape = UNDISTURBED;
  const sockets = new Set<Socket>();
  const lanes = new Set<Lane>();

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const broker = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const pair = [client, broker];
    const both = [laneBetween(client, broker, () => shape), laneBetween(broker, client, () => shape)];
    for (const lane of both) lanes.add(lane);
    for (const socket of pair) {
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        if (pair.every(({ destroyed }) => destroyed)) for (const lane of both) lanes.delete(lane);
      });
    }
  });
  await listening(server, listenPort);

  const pumpAll = (): void => {
    for (const lane of lanes) lane.pump();
  };
  return {
    shape(change) {
      shape = { ...shape, ...change };
      pumpAll();
    },
    heal() {
      shape = UNDISTURBED;
      pumpAll();
    },
    cut() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Content = { readonly bytes: Buffer } | { readonly end: 'finished' | 'broken' };
type Piece = Content & { readonly dueAt: number };

/** One direction of one connection: pieces wait for their time, in order. */
function laneBetween(from: Socket, to: Socket, shapeNow: () => LinkShape): Lane {
  const waiting: Piece[] = [];
  let keptBytes = 0;
  let freeAt = 0;
  let timer: NodeJS.Timeout | undefined;

  function add(content: Content): void {
    waiting.push({ ...content, dueAt: performance.now() + shapeNow().delayMs });
    pump();
  }

  function pass(piece: Piece): void {
    if (to.destroyed) return;
    if ('bytes' in piece) to.write(piece.bytes);
    else if (piece.end === 'finished') to.end();
    else to.resetAndDestroy();
  }

  function pump(): void {
    clearTimeout(timer);
    for (let next = waiting[0]; next !== undefined && !shapeNow().hole; next = waiting[0]) {
      const now = performance.now();
      const { bytesPerSecond } = shapeNow();
      const waitMs = Math.max(next.dueAt, bytesPerSecond === null ? 0 : freeAt) - now;
      if (waitMs > 0) {
        timer = setTimeout(pump, waitMs);
        break;
      }
      waiting.shift();
      if ('bytes' in next) {
        keptBytes -= next.bytes.length;
        if (bytesPerSecond !== null) freeAt = now + (next.bytes.length / bytesPerSecond) * 1_000;
      }
      pass(next);
    }
    if (keptBytes < MOST_KEPT_BYTES && from.isPaused()) from.resume();
  }

  from.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += LARGEST_PIECE) {
      const piece = bytes.subarray(at, at + LARGEST_PIECE);
      keptBytes += piece.length;
      add({ bytes: piece });
    }
    if (keptBytes >= MOST_KEPT_BYTES) from.pause();
  });
  from.once('end', () => {
    add({ end: 'finished' });
  });
  from.on('error', () => {
    add({ end: 'broken' });
  });
  // A connection that one side has left for good: also in a hole the other side hears of it only later.
  from.once('close', () => {
    add({ end: 'broken' });
  });
  return { pump };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve();
    });
  });
}
