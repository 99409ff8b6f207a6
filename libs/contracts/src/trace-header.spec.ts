import { describe, expect, it } from '@jest/globals';
import { readTraceHeader, traceHeaders } from './trace-header.js';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('the trace header of a record (R-46)', () => {
  it('is read as it was written, beside other headers', () => {
    const other = { key: 'tracestate', value: Buffer.from('a=b') };
    expect(readTraceHeader([other, ...traceHeaders(TRACEPARENT)])).toBe(TRACEPARENT);
  });

  it.each([
    ['there are no headers', undefined],
    ['there are only others', [{ key: 'tracestate', value: Buffer.from('a=b') }]],
    ['there are several', [...traceHeaders(TRACEPARENT), ...traceHeaders(TRACEPARENT)]],
    ['it has no value', [{ key: 'traceparent', value: null }]],
    ['it is too long to be one', traceHeaders(`cc${TRACEPARENT.slice(2)}-${'x'.repeat(300)}`)],
  ])('is none when %s', (_, headers) => {
    expect(readTraceHeader(headers)).toBeNull();
  });
});
