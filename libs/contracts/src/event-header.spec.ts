import { describe, expect, it } from '@jest/globals';
import { eventHeader, readEventHeader } from './event-header.js';
import { traceHeaders } from './trace-header.js';

const header = (value: string | null) => ({ key: 'waypost-event', value: value === null ? null : Buffer.from(value) });

describe('the header of a delivery that names its event (R-25)', () => {
  it('is read as it was written, beside other headers', () => {
    const position = { partition: 63, offset: 2 ** 40 };
    const trace = traceHeaders('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
    expect(readEventHeader([...trace, eventHeader(position)])).toEqual(position);
    expect(eventHeader({ partition: 3, offset: 0 }).value?.toString()).toBe('3:0');
  });

  it.each([
    ['there are no headers', undefined],
    ['there are only others', [{ key: 'traceparent', value: Buffer.from('3:7') }]],
    ['there are several', [header('3:7'), header('3:7')]],
    ['it has no value', [header(null)]],
    ['it names no partition', [header(':7')]],
    ['it names no offset', [header('3:')]],
    ['an offset is no whole number', [header('3:7.5')]],
    ['an offset is too large to be one', [header('3:9999999999999999')]],
    ['something follows', [header('3:7 ')]],
  ])('says nothing when %s', (_, headers) => {
    expect(readEventHeader(headers)).toBeNull();
  });
});
