import { TRACEPARENT } from '@waypost/domain';

interface HeaderOfRecord {
  readonly key: string;
  readonly value: Buffer | null;
}

/** Longer ones are of no version that this one could read. */
const MAX_LENGTH = 256;
const NO_HEADERS: readonly HeaderOfRecord[] = [];

/** The `traceparent` of a record as it came; null: there is none, or there are several, which says nothing. */
export function readTraceHeader(headers: readonly HeaderOfRecord[] = []): string | null {
  if (headers.length === 0) return null;
  const [found, ...others] = headers.filter(({ key }) => key === TRACEPARENT);
  if (!found?.value || others.length > 0 || found.value.length > MAX_LENGTH) return null;
  return found.value.toString('latin1');
}

/** null: no headers. */
export function traceHeaders(traceparent: string | null): readonly HeaderOfRecord[] {
  if (traceparent === null) return NO_HEADERS;
  return [{ key: TRACEPARENT, value: Buffer.from(traceparent, 'latin1') }];
}
