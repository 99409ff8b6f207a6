import { createServer } from 'node:net';
import { StackError } from './stack-error.js';

/** Below the ephemeral ports, so that a stopped part finds its port free again. */
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;
const TRIES = 200;

interface PortOptions {
  /** Used if it is free: a stack keeps its addresses over restarts. */
  readonly preferred?: number | undefined;
  /** Ports that are reserved for others. */
  readonly taken?: ReadonlySet<number>;
  readonly random?: () => number;
  readonly isFree?: (port: number) => Promise<boolean>;
}

export async function choosePort(options: PortOptions = {}): Promise<number> {
  const { preferred, taken = new Set(), random = Math.random, isFree = isPortFree } = options;
  if (preferred !== undefined && !taken.has(preferred) && (await isFree(preferred))) return preferred;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const port = FIRST_PORT + Math.floor(random() * (LAST_PORT - FIRST_PORT + 1));
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  throw new StackError(
    'no_free_port',
    `No free port is found between ${String(FIRST_PORT)} and ${String(LAST_PORT)}: stop something.`,
  );
}

/** Whether a server can listen on this port of the loopback interface and of all interfaces. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, undefined));
}

function canListen(port: number, host: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, ...(host === undefined ? {} : { host }), exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
