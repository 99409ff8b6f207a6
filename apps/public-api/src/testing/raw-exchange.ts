import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** 0: the server hung up without a word. */
  readonly status: number;
  /** In lower case. */
  readonly headers: string;
  readonly body: string;
}

/** Bytes on a bare connection, and everything that comes back until the server hangs up. */
export function exchange(
  url: string,
  parts: readonly string[],
  onSocket: (socket: Socket) => void = () => undefined,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onSocket(socket);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // The server may hang up while we still send.
  socket.on('error', () => undefined);
  for (const part of parts) socket.write(part, 'latin1');
  return new Promise((resolve) => {
    socket.on('close', () => {
      const [head = '', body = ''] = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n', 2);
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), headers: head.toLowerCase(), body });
    });
  });
}
