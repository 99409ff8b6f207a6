import { readValue, type SubjectCodec } from '@waypost/contracts';
import { StreamsError } from '@waypost/streams';

/** @throws StreamsError CORRUPT_STATE if there is no value or it cannot be decoded */
export function readOwnRecord<T>(topic: string, codec: SubjectCodec<T>, value: Buffer | null): T {
  const decoded = value && codec.decode(value);
  if (decoded?.type === 'decoded') return decoded.value;
  throw new StreamsError('CORRUPT_STATE', `A record of ${topic} cannot be read: ${decoded?.type ?? 'no value'}.`);
}

/**
 * Decodes a record that another component quarantines if it is unusable: the history projector for attempts, the sender
 * for deliveries.
 * @returns null if it cannot be decoded
 */
export function readIfUsable<T>(codec: SubjectCodec<T>, value: Buffer | null): T | null {
  const read = readValue(codec, value);
  return read.type === 'value' ? read.value : null;
}
