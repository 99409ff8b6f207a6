import { describe, expect, it } from '@jest/globals';
import { OutageLog } from './outage-log.js';

function build() {
  let nowMs = 0;
  const lines: unknown[] = [];
  const error = (event: string, fields?: unknown): void => void lines.push([event, fields]);
  const log = new OutageLog({ error }, () => nowMs);
  const fail = (reason: unknown = new Error('connect ECONNREFUSED')) => {
    log.failed({ method: 'GET', path: '/public/v2/events' }, reason);
  };
  return { lines, fail, advance: (ms: number) => void (nowMs += ms) };
}

describe('the log of outages', () => {
  it('has one line for each outage, without a stack', () => {
    const { lines, fail, advance } = build();
    for (let i = 0; i < 1_000; i++) {
      fail();
      advance(100);
    }
    const fields = { status: 503, method: 'GET', path: '/public/v2/events', reason: 'connect ECONNREFUSED' };
    expect(lines).toEqual([['requests_unavailable', fields]]);
    advance(31_000);
    fail();
    expect(lines).toHaveLength(2);
  });

  it('names the reasons of all addresses when none answered', () => {
    const { lines, fail } = build();
    fail(new AggregateError([new Error('connect ::1'), new Error('connect 127.0.0.1')]));
    expect(lines).toEqual([
      ['requests_unavailable', expect.objectContaining({ reason: 'connect ::1; connect 127.0.0.1' })],
    ]);
  });
});
