import { SENT } from '../load/messages.js';
import { RECEIPT } from '../sink/origin.js';
import type { SentEvents } from '../workers/harness.js';
import type { NumberTable } from '../workers/number-table.js';

/** What became of one delivery: an event for one endpoint, as the sink saw it. */
export interface Delivery {
  readonly event: number;
  readonly endpoint: number;
  readonly committedMs: number;
  /** Its requests in the order of their arrival. */
  readonly receipts: readonly Receipt[];
}

export interface Receipt {
  readonly attempt: number;
  readonly status: number;
  readonly receivedMs: number;
  readonly idHead: number;
}

/**
 * Every delivery that has to come of the events, with its receipts; those that never arrived have none. The endpoints of
 * a target are by its position in the plan.
 */
export function deliveriesOf(
  { firstEvent, sent }: Pick<SentEvents, 'firstEvent' | 'sent'>,
  receipts: NumberTable,
  endpointsOf: (target: number) => readonly number[],
): Delivery[] {
  const byEvent: Map<number, Receipt[]>[] = Array.from({ length: sent.rows }, () => new Map<number, Receipt[]>());
  for (let row = 0; row < receipts.rows; row += 1) {
    const known = byEvent[receipts.get(row, RECEIPT.event) - firstEvent];
    if (known === undefined) continue;
    const endpoint = receipts.get(row, RECEIPT.endpoint);
    const receipt = receiptAt(receipts, row);
    const earlier = known.get(endpoint);
    if (earlier === undefined) known.set(endpoint, [receipt]);
    else earlier.push(receipt);
  }
  return byEvent.flatMap((found, index) => {
    const committedMs = sent.get(index, SENT.committedMs);
    return endpointsOf(sent.get(index, SENT.target)).map((endpoint) => ({
      event: firstEvent + index,
      endpoint,
      committedMs,
      receipts: found.get(endpoint) ?? [],
    }));
  });
}

function receiptAt(receipts: NumberTable, row: number): Receipt {
  return {
    attempt: receipts.get(row, RECEIPT.attempt),
    status: receipts.get(row, RECEIPT.status),
    receivedMs: receipts.get(row, RECEIPT.receivedMs),
    idHead: receipts.get(row, RECEIPT.idHead),
  };
}

/** From the commit of the event to the first request that carries it; those that never came are left out. */
export function latenciesMs(deliveries: readonly Delivery[]): number[] {
  return deliveries.flatMap(({ committedMs, receipts: [first] }) =>
    first === undefined ? [] : [Math.max(0, first.receivedMs - committedMs)],
  );
}

export function times200({ receipts }: Delivery): number {
  return receipts.filter(({ status }) => status === 200).length;
}
