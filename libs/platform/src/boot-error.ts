/**
 * Why an application cannot start. The message is one or more plain sentences that name the fix; `runApp` prints it
 * without a stack. Anything else thrown during the start is a bug and is printed with its stack.
 */
export class BootError extends Error {
  override readonly name = 'BootError';

  constructor(
    /** snake_case, stable: what a supervisor or a test may match on. */
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

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
