import { BootError } from '../boot-error.js';

interface PortUse {
  readonly host: string;
  readonly port: number;
  /** The environment variable to change. */
  readonly variable: string;
}

/** Says in one sentence why a port cannot be listened on, and what to set. */
export function portError(error: unknown, { host, port, variable }: PortUse): BootError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
  const reason = code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code})`;
  const message = `Port ${String(port)} of ${host} ${reason}: set ${variable} to a free port, or to 0 for any.`;
  return new BootError('port_unusable', message, { cause: error });
}
