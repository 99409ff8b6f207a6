import { describe, expect, it } from '@jest/globals';
import type { BaseOffsets, FencedWriter } from '@waypost/streams/admin';
import { flushed } from '../../../../test/support/until.js';
import { DeliveryWriter } from './delivery-writer.js';

function build() {
  const written: number[] = [];
  const answers: (() => void)[] = [];
  const requested: DeliveryWriter[] = [];
  const append = () => new Promise<BaseOffsets>((resolve) => answers.push(() => resolve(new Map())));
  const deliveries = new DeliveryWriter({
    writer: { append } as Partial<FencedWriter> as FencedWriter,
    flushScheduler: { request: () => void requested.push(deliveries) },
    onWritten: (position) => void written.push(position),
    onFailure: (error) => {
      throw error;
    },
  });
  const add = () => deliveries.add({ topic: 'deliveries', partition: 0, key: null, value: Buffer.alloc(10) });
  const flush = () => requested.shift()?.flush();
  return { deliveries, written, add, flush, answer: () => answers.shift()?.() };
}

describe('the deliveries of one partition of events', () => {
  it('count as unsent until their request, however many there were before (R-26)', () => {
    const { deliveries, add, flush } = build();
    add();
    add();
    expect(deliveries.unsentBytes).toBe(20);
    deliveries.advanceTo(1);
    flush();
    expect(deliveries.unsentBytes).toBe(0);
  });

  it('have their position passed on also where the events read during a request have none (R-25)', async () => {
    const { deliveries, written, add, flush, answer } = build();
    add();
    deliveries.advanceTo(1);
    flush();
    deliveries.advanceTo(5);
    flush();
    answer();
    await flushed();
    flush();
    answer();
    await flushed();
    expect(written.at(-1)).toBe(5);
  });
});
