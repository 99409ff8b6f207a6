import type { DecodedRecord } from './decode-batch.js';

export interface RecordFilter {
  /** Epoch ms, inclusive. */
  readonly from: number | null;
  /** Epoch ms, exclusive. */
  readonly to: number | null;
  /** Of the value, or the key where the value names none. */
  readonly device: string | null;
  /** The value's eventType. */
  readonly type: string | null;
}

export function matches(record: DecodedRecord, { from, to, device, type }: RecordFilter): boolean {
  if (from !== null && record.timestamp < from) return false;
  if (to !== null && record.timestamp >= to) return false;
  if (device !== null && (textField(record.value, 'deviceId') ?? record.key) !== device) return false;
  return type === null || textField(record.value, 'eventType') === type;
}

function textField(value: unknown, name: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const found = (value as Readonly<Record<string, unknown>>)[name];
  return typeof found === 'string' ? found : null;
}
