import { describe, expect, it } from '@jest/globals';
import { originName } from './record-origin.js';

const source = { topic: 'telemetry.pings', partition: 0 };
const origin = { offset: 5, timestamp: 123 };
const key = Buffer.from('van-1');
const nameOf = (value: string | null) =>
  originName(source, { key, value: value === null ? null : Buffer.from(value) }, origin);

describe('the name of the original of a rejected record (R-2)', () => {
  it('is the same for copies, which have its bytes', () => {
    expect(nameOf('ping')).toBe(nameOf('ping'));
  });

  it('is another one for other bytes, whatever origin their producer claims', () => {
    expect(new Set(['ping', 'pong', '', null].map(nameOf)).size).toBe(4);
  });
});
