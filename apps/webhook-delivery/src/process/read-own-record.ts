import { readValue, type SubjectCodec } from '@waypost/contracts';
import { StreamsError } from '@waypost/streams';

/** @throws StreamsError CORRUPT_STATE when there is no value or it cannot be decoded */
export function readOwnRecord<T>(topic: string, codec: SubjectCodec<T>, value: Buffer | null): T {
  const decoded = value && codec.decode(value);
  if (decoded?.type === 'decoded') return decoded.value;
  throw new StreamsError('CORRUPT_STATE', `A record of ${topic} cannot be read: ${decoded?.type ?? 'no value'}.`);
}

/**
 * The value of a record that another part quarantines if it cannot be used: attempts by the history projector, deliveries by
 * the sender.
 * @returns null when it cannot be decoded
 */
export function readIfUsable<T>(codec: SubjectCodec<T>, value: Buffer | null): T | null {
  const read = readValue(codec, value);
  return read.type === 'value' ? read.value : null;
}
