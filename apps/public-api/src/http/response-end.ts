import type { Response } from 'express';

/**
 * Calls back once, when the response has been sent or its connection has gone, at once if it has already. A response that
 * waits behind others on its connection does not report that itself: Node gives it no `close`.
 */
export function onResponseEnd(response: Response, onEnd: () => void): void {
  const { socket } = response.req;
  if (response.closed || socket.destroyed) {
    onEnd();
    return;
  }
  let hasEnded = false;
  const end = (): void => {
    // The one event brings about the other, whose listeners are being called already.
    if (hasEnded) return;
    hasEnded = true;
    response.off('close', end);
    socket.off('close', end);
    onEnd();
  };
  // A connection may have many requests under way.
  socket.setMaxListeners(0);
  response.once('close', end);
  socket.once('close', end);
}
