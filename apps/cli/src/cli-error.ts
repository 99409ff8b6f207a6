/** An end of the command that its user can understand: one sentence, no stack. 1: it failed; 2: it was called wrongly. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, 2);
}
