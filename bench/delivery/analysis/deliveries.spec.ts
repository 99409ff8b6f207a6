import { describe, expect, it } from '@jest/globals';
import { SENT_WIDTH } from '../load/messages.js';
import { RECEIPT_WIDTH } from '../sink/origin.js';
import { NumberTable } from '../workers/number-table.js';
import { deliveriesOf, latenciesMs, times200 } from './deliveries.js';

function sentOf(...rows: readonly (readonly number[])[]): NumberTable {
  const table = NumberTable.empty(SENT_WIDTH);
  for (const row of rows) table.append(...row);
  return table;
}

function receiptsOf(...rows: readonly (readonly number[])[]): NumberTable {
  const table = NumberTable.empty(RECEIPT_WIDTH);
  for (const row of rows) table.append(...row);
  return table;
}

describe('deliveriesOf', () => {
  const sent = sentOf([0, 90, 100], [1, 190, 200]);
  const receipts = receiptsOf(
    [501, 20, 1, 503, 8, 230],
    [500, 10, 1, 200, 7, 104],
    [501, 20, 2, 200, 8, 2_230],
    [499, 10, 1, 200, 9, 50],
    [-1, 10, 0, 200, 0, 60],
  );
  const found = deliveriesOf({ firstEvent: 500, sent }, receipts, (target) => (target === 0 ? [10, 11] : [20]));

  it('knows every delivery that is to come of an event, and its receipts in their order', () => {
    expect(
      found.map(({ event, endpoint, receipts: some }) => [event, endpoint, some.map(({ status }) => status)]),
    ).toEqual([
      [500, 10, [200]],
      [500, 11, []],
      [501, 20, [503, 200]],
    ]);
    expect(found.map(times200)).toEqual([1, 0, 1]);
  });

  it('takes the latency from the commit to the first receipt', () => {
    expect(latenciesMs(found)).toEqual([4, 30]);
  });
});
