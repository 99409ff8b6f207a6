import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeEach } from '@jest/globals';

const CHANNEL = 'net.client.socket';

/** How many bytes one of the sockets opened in the current test has read at most: what its peer wrote says little. */
export function bytesReadByClients(): () => number {
  let sockets: Socket[] = [];
  const listener = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket);
  beforeEach(() => {
    sockets = [];
    subscribe(CHANNEL, listener);
  });
  afterEach(() => {
    unsubscribe(CHANNEL, listener);
  });
  return () => Math.max(0, ...sockets.map((socket) => socket.bytesRead));
}
