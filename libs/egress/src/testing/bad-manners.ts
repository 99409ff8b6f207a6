import type { Socket } from 'node:net';

/** Sends one piece after the other, each after the given wait, until the pieces or the socket end. */
export function trickle(socket: Socket, pieces: Iterable<string>, everyMs: number): void {
  const iterator = pieces[Symbol.iterator]();
  const timer = setInterval(() => {
    const next = iterator.next();
    if (next.done === true || socket.destroyed) clearInterval(timer);
    else socket.write(next.value);
  }, everyMs);
  socket.once('close', () => {
    clearInterval(timer);
  });
}

/** Writes the piece again and again, as fast as the other side takes it. */
export function flood(socket: Socket, piece: string): void {
  const block = piece.repeat(Math.ceil(16_384 / piece.length));
  const fill = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', fill);
  fill();
}

export function* endlessly(piece: string): Generator<string> {
  for (;;) yield piece;
}
