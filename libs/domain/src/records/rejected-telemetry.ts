// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** A record that could not be used, with its original bytes. */
export interface RejectedTelemetry {
  readonly sourceTopic: string;
  readonly sourcePartition: number;
  readonly sourceOffset: number;
  /** When the record was appended to its topic (epoch milliseconds). */
  readonly sourceTimestamp: number;
  readonly sourceKey: Buffer | null;
  readonly sourceValue: Buffer | null;
  /** malformed | unknown_schema | incompatible_schema | invalid_field | key_mismatch | future | skipped */
  readonly reason: string;
  /** What is wrong, in words. */
  readonly detail: string | null;
}
