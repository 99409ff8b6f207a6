import { describe, expect, it } from '@jest/globals';
import { readRepublishedHeader, rejectionHeaders, republishedHeader } from './republished-header.js';
import { traceHeaders } from './trace-header.js';

const TRACE = traceHeaders('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
const header = (value: string | null) => ({
  key: 'waypost-republished-from',
  value: value === null ? null : Buffer.from(value),
});

describe('the header of a record that was published again (R-2)', () => {
  it('is read as it was written, beside other headers', () => {
    const origin = { offset: 2 ** 40, timestamp: 1_760_000_000_000 };
    expect(readRepublishedHeader([...TRACE, republishedHeader(origin)])).toEqual(origin);
    expect(republishedHeader({ offset: 7, timestamp: -1 }).value?.toString()).toBe('7:-1');
    expect(readRepublishedHeader([header('7:-1')])).toEqual({ offset: 7, timestamp: -1 });
  });

  it('is all that a rejection takes over', () => {
    expect(rejectionHeaders([...TRACE, header('7:1000')])).toEqual([header('7:1000')]);
    expect(rejectionHeaders(TRACE)).toEqual([]);
    expect(rejectionHeaders(undefined)).toEqual([]);
  });

  it.each([
    ['there are no headers', undefined],
    ['there are only others', [{ key: 'waypost-event', value: Buffer.from('3:7') }]],
    ['there are several', [header('3:7'), header('3:7')]],
    ['it has no value', [header(null)]],
    ['it names no time', [header('7:')]],
    ['an offset is too large to be one', [header('9999999999999999:7')]],
    ['something follows', [header('3:7 ')]],
  ])('says nothing when %s', (_, headers) => {
    expect(readRepublishedHeader(headers)).toBeNull();
  });
});
