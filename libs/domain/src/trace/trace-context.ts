import { hash } from 'node:crypto';
import { joinIds } from '../event/event-id.js';
import { formatTime } from '../time/instant.js';

/** The name of the record header and of the HTTP header (R-46, W3C Trace Context). */
export const TRACEPARENT = 'traceparent';

/** Version, trace, parent, flags. A later version may have more behind them. */
const TRACEPARENT_FORM = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
/** Only this flag is passed on: the others have no meaning in the version that is written. */
const SAMPLED = 0x01;

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

interface Trace {
  readonly traceId: string;
  readonly isSampled: boolean;
}

/** null: not a `traceparent`. It is then as if there had been none. */
function parse(traceparent: string | null): Trace | null {
  const [, version, traceId, spanId, flags = '', more] = TRACEPARENT_FORM.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || traceId === NO_TRACE || spanId === NO_SPAN) return null;
  if (version === '00' && more !== undefined) return null;
  return { traceId, isSampled: (parseInt(flags, 16) & SAMPLED) !== 0 };
}

function format({ traceId, isSampled }: Trace, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/**
 * The context of the events of a ping: in the trace of its producer, else in one that begins here, which is not sampled.
 * Like all ids of this file it follows from the ping alone, so that a ping that is processed again writes the same bytes.
 *
 * @param given the producer's, as it came; null: none
 */
export function traceOfPing(
  { fleetId, deviceId, eventTime }: { readonly fleetId: string; readonly deviceId: string; readonly eventTime: number },
  given: string | null,
): string {
  const digits = hash('sha256', joinIds(fleetId, deviceId, formatTime(eventTime)), 'hex');
  const trace = parse(given) ?? { traceId: digits.slice(0, TRACE_DIGITS), isSampled: false };
  return format(trace, digits.slice(TRACE_DIGITS, TRACE_DIGITS + SPAN_DIGITS));
}

/**
 * The context of a delivery: in the trace of its event, else in one that begins here.
 *
 * @param deliveryEventId a UUID
 */
export function traceOfDelivery(deliveryEventId: string, ofEvent: string | null): string {
  const digits = deliveryEventId.replaceAll('-', '');
  return format(parse(ofEvent) ?? { traceId: digits, isSampled: false }, digits.slice(-SPAN_DIGITS));
}

/** The context that the receiver of an attempt gets: a span of its own within that of the delivery. */
export function traceOfAttempt(ofDelivery: string, attempt: number): string {
  // Never the span of the delivery itself: attempts begin with 1.
  const lastDigits = (parseInt(ofDelivery.slice(50, 52), 16) ^ (attempt & 0xff)).toString(16).padStart(2, '0');
  return `${ofDelivery.slice(0, 50)}${lastDigits}${ofDelivery.slice(52)}`;
}
