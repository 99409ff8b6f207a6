import { describe, expect, it } from '@jest/globals';
import { epochEndRequest } from './epoch-end.js';

const { payload, decode } = epochEndRequest({ topic: 'pings', partition: 2 }, 7, 9);

const ONE = '00000001';
const TOPIC = `0005${Buffer.from('pings').toString('hex')}`;

function answer(errorCode: string, end: string): Buffer {
  const [throttle, partition, epoch] = ['00000000', '00000002', '00000006'];
  return Buffer.from([throttle, ONE, TOPIC, ONE, errorCode, partition, epoch, end].join(''), 'hex');
}

describe('the request for the end of a leader epoch', () => {
  it('asks the leader in one epoch for the end of another, of one partition', () => {
    const [partition, present, epoch] = ['00000002', '00000009', '00000007'];
    expect(payload.toString('hex')).toBe([ONE, TOPIC, ONE, partition, present, epoch].join(''));
  });

  it('takes the end from the answer', () => {
    expect(decode(answer('0000', '0000000000000bb8'))).toBe(3_000);
  });

  it('knows a log without epochs', () => {
    expect(decode(answer('0000', 'ffffffffffffffff'))).toBeNull();
  });

  it('throws on an error response', () => {
    expect(() => decode(answer('0006', 'ffffffffffffffff'))).toThrow(expect.objectContaining({ code: 6 }));
  });
});
