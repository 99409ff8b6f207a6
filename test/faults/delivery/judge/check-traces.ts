import { groupBy } from '../../../support/group-by.js';
import type { ExpectedDelivery, Observations, Receipt } from './observations.js';
import type { ProblemList } from './problem-list.js';

/** W3C Trace Context, level 1. */
const VALID = /^00-((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-(0[01])$/;

/** trace and flag of the event go on to the receiver; each replay begins a trace, and each attempt is a span of its own. */
export function checkTraces(
  { expected, receipts }: Pick<Observations, 'expected' | 'receipts'>,
  problems: ProblemList,
): void {
  const firsts = new Map(expected.flatMap((one) => (one.series === 0 ? [[one.eventId, one]] : [])));
  for (const [eventId, group] of groupBy(receipts, baseOf)) {
    const traces = groupBy(group, traceOf);
    if (traces.has('')) problems.add('POST without a traceparent', eventId);
    // Which of two series that were sent within milliseconds a POST belongs to is a guess, so all of them count together.
    const series = new Set(group.map((one) => one.eventId));
    if (traces.size !== series.size)
      problems.add(
        'POSTs of one delivery in several traces, or of several in one',
        `${eventId}: ${[...traces.keys()].join(' ')}`,
      );
    const given = givenTrace(firsts.get(eventId));
    if (given !== null && series.has(eventId) && !traces.has(given))
      problems.add('POST in another trace than its event', `${eventId}: ${[...traces.keys()].join(' ')}, not ${given}`);
    for (const own of traces.values()) {
      const [spans, attempts] = [
        new Set(own.map(({ traceparent }) => traceparent)),
        new Set(own.map(({ attempt }) => attempt)),
      ];
      if (spans.size !== attempts.size) problems.add('attempts that are not a span each', eventId);
    }
  }
}

function baseOf({ eventId }: Receipt): string {
  return eventId.split('/')[0] ?? '';
}

/** Its id and flags; empty: it is none. */
function traceOf({ traceparent }: Pick<Receipt, 'traceparent'>): string {
  const [, id, flags] = VALID.exec(traceparent) ?? [];
  return id === undefined ? '' : `${id} ${String(flags)}`;
}

function givenTrace(first: ExpectedDelivery | undefined): string | null {
  return first?.traceparent ? traceOf({ traceparent: first.traceparent }) : null;
}
