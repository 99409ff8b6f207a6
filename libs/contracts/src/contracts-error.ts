export type ContractsErrorCode =
  | 'registry_unavailable'
  | 'registry_refused'
  | 'registry_untrusted'
  | 'schema_not_registered'
  | 'schema_incompatible'
  | 'codec_not_prepared'
  | 'partition_count_differs'
  | 'topic_setting_differs';

/** An error of this library; the message says how to fix it. */
export class ContractsError extends Error {
  override readonly name = 'ContractsError';

  constructor(
    readonly code: ContractsErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** True if the same call may succeed later with nothing changed: an outage. */
  get retriable(): boolean {
    return this.code === 'registry_unavailable';
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
