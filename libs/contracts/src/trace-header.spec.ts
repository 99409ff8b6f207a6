import { describe, expect, it } from '@jest/globals';
import { readTraceHeader, readTraceState, traceHeaders } from './trace-header.js';

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

describe('the trace state of a record (R-46)', () => {
  const state = (value: string | null) => ({ key: 'tracestate', value: value === null ? null : Buffer.from(value) });
  const context = traceHeaders(TRACEPARENT);

  it('is read as it was written, beside the trace context', () => {
    const headers = traceHeaders(TRACEPARENT, 'a=b,c=d');
    expect(readTraceState(headers)).toBe('a=b,c=d');
    expect(readTraceHeader(headers)).toBe(TRACEPARENT);
  });

  it('is one list when there are several headers', () => {
    expect(readTraceState([state('a=b'), ...context, state('c=d'), state(null)])).toBe('a=b,c=d');
  });

  it.each([
    ['there are no headers', undefined],
    ['there is only a trace context', context],
    ['there is no trace context', [state('a=b'), state('c=d')]],
    ['the trace context is none', [...traceHeaders(TRACEPARENT.toUpperCase()), state('a=b')]],
    ['it has no value', [...context, state(null)]],
    ['it is no list', [...context, state('a=b\r\nx: y')]],
    ['it is much too long', [...context, state(`a=b,${' '.repeat(8_192)}`)]],
  ])('is none when %s', (_, headers) => {
    expect(readTraceState(headers)).toBeNull();
  });
});
