import { parseTraceparent, passedTracestate, TRACEPARENT, TRACESTATE } from '@waypost/domain';
import { type HeaderOfRecord, singleHeader } from './record-header.js';

/** A longer one belongs to no version that this code can read. */
const MAX_BYTES = 256;
const NO_HEADERS: readonly HeaderOfRecord[] = [];
/** Far more than is passed on; longer ones are not read at all. */
const MAX_STATE_BYTES = 8_192;

/** The `traceparent` of a record, as received; null: there is none, or several, which is meaningless. */
export function readTraceHeader(headers: readonly HeaderOfRecord[] = []): string | null {
  return singleHeader(headers, TRACEPARENT, MAX_BYTES);
}

/** The `tracestate` of a record as it is passed on, which is meaningless without a `traceparent`; null: none. */
export function readTraceState(headers: readonly HeaderOfRecord[] = []): string | null {
  if (headers.length < 2) return null;
  const values = headers.filter(({ key }) => key === TRACESTATE).map(({ value }) => value ?? Buffer.alloc(0));
  const bytes = values.reduce((sum, { length }) => sum + length, 0);
  if (bytes === 0 || bytes > MAX_STATE_BYTES || parseTraceparent(readTraceHeader(headers)) === null) return null;
  return passedTracestate(values.map((value) => value.toString('latin1')).join(','));
}

/**
 * @param traceparent null: no headers
 * @param tracestate the result of readTraceState()
 */
export function traceHeaders(traceparent: string | null, tracestate: string | null = null): readonly HeaderOfRecord[] {
  if (traceparent === null) return NO_HEADERS;
  const parent = { key: TRACEPARENT, value: Buffer.from(traceparent, 'latin1') };
  return tracestate === null ? [parent] : [parent, { key: TRACESTATE, value: Buffer.from(tracestate, 'latin1') }];
}
