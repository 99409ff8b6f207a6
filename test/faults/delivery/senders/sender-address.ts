import { createServer } from 'node:net';

const FIRST_INSTANCE = 20;
const STARTS = 250;

/** A loopback address for each start of each instance: two processes never share one. */
export function senderAddress(instance: number, start: number): string {
  const bytes = [127, FIRST_INSTANCE + instance, Math.floor(start / STARTS), 1 + (start % STARTS)];
  return bytes.join('.');
}

/** @throws Error where such addresses cannot be used: Linux has all of 127.0.0.0/8, others have 127.0.0.1 alone */
export async function assertSenderAddresses(): Promise<void> {
  const host = senderAddress(0, 0);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new Error(`This suite needs the loopback addresses 127.0.0.0/8, as Linux has them.`, { cause }));
    });
    server.listen({ host, port: 0 }, () => {
      server.close(() => {
        resolve();
      });
    });
  });
}
