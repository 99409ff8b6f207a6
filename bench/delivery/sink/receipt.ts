import type { NumberTable } from '../workers/number-table.js';

/** The columns of what the sink remembers of each request. */
export const RECEIPT = {
  /** The number that the load generator has put into the event; -1: the body has none. */
  event: 0,
  endpoint: 1,
  /** Of the header; 0: it was missing. */
  attempt: 2,
  /** What was answered; 0: nothing, so far or for ever. */
  status: 3,
  /** The first 32 bits of the event id, to tell whether it stays the same over attempts. */
  idHead: 4,
  receivedMs: 5,
} as const;

export const RECEIPT_WIDTH = 6;

export type ReceiptTable = NumberTable;
