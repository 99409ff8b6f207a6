export type StackErrorCode =
  | 'prerequisite_missing'
  | 'cache_dir_unusable'
  | 'download_failed'
  | 'data_dir_in_use'
  | 'lock_impossible'
  | 'data_dir_unusable'
  | 'no_free_port'
  | 'part_failed'
  | 'external_part_unreachable';

/** The stack cannot start; the message is one sentence with the fix, for the user. */
export class StackError extends Error {
  override readonly name = 'StackError';

  constructor(
    readonly code: StackErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
