import { describe, expect, it } from '@jest/globals';
import { StreamsError, WaitFailed } from '../errors.js';
import { isOfRecord, parkedForMs, parkingError } from './parking.js';

const POISONED = { topic: 'input', partition: 2 };

describe('a partition that goes on failing', () => {
  it.each([
    ['blames none when 30 waits in a row have failed', WaitFailed.of('processSlice()', new Error('no answer')), false],
    ['blames none when the brokers were away 30 times in a row', new StreamsError('BROKER_UNAVAILABLE', 'away'), false],
    ['may be a record that 30 attempts in a row have failed at', new RangeError('out of range'), true],
  ])('%s', (_, error, ofRecord) => {
    const stuck = parkingError(error, POISONED, true);
    expect(stuck).toMatchObject({ code: 'TASK_STUCK', offset: null });
    expect(stuck && isOfRecord(stuck)).toBe(ofRecord);
  });
});

describe('the delay before a parked partition is tried again', () => {
  it('grows from a second to five minutes, with jitter, where waiting can help', () => {
    expect([0, 1, 2, 8, 9, 30].map((retries) => parkedForMs('TASK_STUCK', retries, 0))).toEqual([
      1_000, 2_000, 4_000, 256_000, 300_000, 300_000,
    ]);
    expect(parkedForMs('RECORD_TOO_LARGE', 0, 0.5)).toBe(875);
  });

  it('never ends where only a command can help', () => {
    expect(parkedForMs('PROCESSING_FAILED', 0, 0)).toBeNull();
  });
});
