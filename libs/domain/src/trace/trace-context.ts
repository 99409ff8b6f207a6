import { hash } from 'node:crypto';
import { joinIds } from '../event/event-id.js';
import { formatTime } from '../time/instant.js';

/** The name of the record header and of the HTTP header (R-46, W3C Trace Context). */
export const TRACEPARENT = 'traceparent';

/** Version, trace, parent, flags. A later version may have more after them. */
const TRACEPARENT_FORM = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
/** Other flags are not passed on: they have no meaning in the version that is written. */
const SAMPLED = 0x01;

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
const SPAN_END = 3 + TRACE_DIGITS + 1 + SPAN_DIGITS;
/** Enough for a probe each 15 s until the log ends. */
const COUNTED_DIGITS = 6;
const RATIO_DIGITS = 8;

interface Trace {
  readonly traceId: string;
  readonly isSampled: boolean;
}

export interface TraceContext extends Trace {
  readonly spanId: string;
}

/** null: not a `traceparent`, and handled as if it were missing. */
export function parseTraceparent(traceparent: string | null): TraceContext | null {
  const [, version, traceId, spanId = NO_SPAN, flags = '', more] = TRACEPARENT_FORM.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || traceId === NO_TRACE || spanId === NO_SPAN) return null;
  if (version === '00' && more !== undefined) return null;
  return { traceId, spanId, isSampled: (parseInt(flags, 16) & SAMPLED) !== 0 };
}

function format({ traceId, isSampled }: Trace, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Whether a `traceparent` written here is sampled. */
export function isSampledTrace(traceparent: string): boolean {
  return traceparent.endsWith('1');
}

/** The id decides, so that all who see a trace decide the same; its last 7 bytes are as good as random. */
function begin(traceId: string, sampleRatio: number): Trace {
  return { traceId, isSampled: parseInt(traceId.slice(-RATIO_DIGITS), 16) < sampleRatio * 16 ** RATIO_DIGITS };
}

/**
 * Continues the producer's trace (`given`), or begins one that follows from the ping alone, so that it is the same if
 * processed again.
 */
export function traceOfPing(
  { fleetId, deviceId, eventTime }: { readonly fleetId: string; readonly deviceId: string; readonly eventTime: number },
  given: string | null,
  sampleRatio = 0,
): string {
  const digits = hash('sha256', joinIds(fleetId, deviceId, formatTime(eventTime)), 'hex');
  const trace = parseTraceparent(given) ?? begin(digits.slice(0, TRACE_DIGITS), sampleRatio);
  return format(trace, digits.slice(TRACE_DIGITS, TRACE_DIGITS + SPAN_DIGITS));
}

/** Continues the trace of the event, or begins one. Each replay begins its own. */
export function traceOfDelivery(
  { eventId, series }: { readonly eventId: string; readonly series: number },
  ofEvent: string | null,
  sampleRatio = 0,
): string {
  // A UUID has as many digits as a trace id.
  const digits = series === 0 ? eventId.replaceAll('-', '') : hash('sha256', joinIds(eventId, String(series)), 'hex');
  return format(
    parseTraceparent(ofEvent) ?? begin(digits.slice(0, TRACE_DIGITS), sampleRatio),
    digits.slice(-SPAN_DIGITS),
  );
}

/** The span of one request. `number` counts all requests of the delivery, probes included, from 1: 0 would be the delivery's own span. */
export function traceOfAttempt(ofDelivery: string, number: number): string {
  return changeSpan(ofDelivery, SPAN_END - COUNTED_DIGITS, COUNTED_DIGITS, number & 0xffffff);
}

/** The span in which an attempt is projected: it differs from those of the delivery's other attempts. */
export function traceOfProjection(ofAttempt: string): string {
  return changeSpan(ofAttempt, SPAN_END - SPAN_DIGITS, 2, 0xff);
}

function changeSpan(traceparent: string, at: number, digits: number, flipped: number): string {
  const changed = (parseInt(traceparent.slice(at, at + digits), 16) ^ flipped).toString(16).padStart(digits, '0');
  return `${traceparent.slice(0, at)}${changed}${traceparent.slice(at + digits)}`;
}
