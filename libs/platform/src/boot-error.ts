/**
 * Why an application cannot start. The message is one or more plain sentences that name the mend; `runApp` prints it
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
