import { AvroCursor } from './avro-cursor.js';
import { LazyTelemetryPing } from './lazy-telemetry-ping.js';
import type { DecodeResult, SubjectCodec } from './subject-codec.js';
import type { TelemetryPing } from '@waypost/domain';

/**
 * Decodes the ping that lies from `start` to `end` in `bytes`. What was written with our own version of the schema comes
 * as a `LazyTelemetryPing`, at a fifth of the cost; other versions as a plain object. The results are the same.
 */
export type PingReader = (bytes: Buffer, start: number, end: number) => DecodeResult<TelemetryPing>;

export function createPingReader(codec: SubjectCodec<TelemetryPing>): PingReader {
  const cursor = new AvroCursor();
  const readOwn = (bytes: Buffer, start: number, end: number): TelemetryPing =>
    new LazyTelemetryPing(cursor, bytes, start, end);
  return (bytes, start, end) => codec.decodeRange(bytes, start, end, readOwn);
}
