import { describe, expect, it } from '@jest/globals';
import { isConnectionLoss } from './connection-loss.js';

const coded = (code: string): Error => Object.assign(new Error('said so'), { code });

describe('isConnectionLoss', () => {
  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'ETIMEDOUT',
    'EAI_AGAIN',
    '08006',
    '57P01',
    '57P03',
    '53300',
    '40P01',
    '25P03',
  ])('holds for %s', (code) => {
    expect(isConnectionLoss(coded(code))).toBe(true);
  });

  it.each(['42P01', '23505', '22P02', '28P01', '3D000', '57014X', 'EACCES'])('does not hold for %s', (code) => {
    expect(isConnectionLoss(coded(code))).toBe(false);
  });

  it('holds for what the driver says without a code', () => {
    expect(isConnectionLoss(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isConnectionLoss(new Error('timeout exceeded when trying to connect'))).toBe(true);
    expect(isConnectionLoss(new Error('a bug'))).toBe(false);
  });

  it('looks into causes and into several addresses of one host', () => {
    expect(isConnectionLoss(new Error('outer', { cause: coded('EPIPE') }))).toBe(true);
    expect(isConnectionLoss(new AggregateError([coded('EINVAL'), coded('ECONNREFUSED')]))).toBe(true);
    expect(isConnectionLoss(new AggregateError([coded('EINVAL')]))).toBe(false);
    expect(isConnectionLoss(undefined)).toBe(false);
    expect(isConnectionLoss('ECONNREFUSED')).toBe(false);
  });
});
