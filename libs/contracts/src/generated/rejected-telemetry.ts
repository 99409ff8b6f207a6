// Generated from schemas/telemetry.rejected-value.avsc by "npm run codegen". Change the schema, not this file.

/** A ping that could not be taken, with its original bytes. */
export interface RejectedTelemetry {
  readonly sourceTopic: string;
  readonly sourcePartition: number;
  readonly sourceOffset: number;
  /** Epoch milliseconds. */
  readonly sourceTimestamp: number;
  readonly sourceKey: Buffer | null;
  readonly sourceValue: Buffer | null;
  /** malformed | unknown_schema | incompatible_schema | invalid_field | key_mismatch | future */
  readonly reason: string;
  readonly detail: string | null;
}

/** The schema of subject telemetry.rejected-value. */
export const rejectedTelemetrySchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'RejectedTelemetry',
  doc: 'A ping that could not be taken, with its original bytes (R-2).',
  fields: [
    {
      name: 'sourceTopic',
      type: 'string',
    },
    {
      name: 'sourcePartition',
      type: 'int',
    },
    {
      name: 'sourceOffset',
      type: 'long',
    },
    {
      name: 'sourceTimestamp',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'sourceKey',
      type: ['null', 'bytes'],
      default: null,
    },
    {
      name: 'sourceValue',
      type: ['null', 'bytes'],
      default: null,
    },
    {
      name: 'reason',
      type: 'string',
      doc: 'malformed | unknown_schema | incompatible_schema | invalid_field | key_mismatch | future',
    },
    {
      name: 'detail',
      type: ['null', 'string'],
      default: null,
    },
  ],
} as const;
