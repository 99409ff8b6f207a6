import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { StreamsError, type StreamsErrorCode } from '../errors.js';
import { parkingError } from './parking.js';

describe('the codes of errors in the README', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` +\| ([^|]+?) +\| \S/gmu)];
  const table = rows.map(([, code = '', reaches = '']) => ({ code: code as StreamsErrorCode, reaches }));

  it.each(table)('are parked where it says so: $code reaches $reaches', ({ code, reaches }) => {
    const isParked = parkingError(new StreamsError(code, ''), { topic: 'input', partition: 0 }, false) !== null;
    expect(isParked).toBe(reaches.includes('parked'));
  });

  it('are all that the library has', () => {
    const source = readFileSync(join(import.meta.dirname, '../errors.ts'), 'utf8');
    const codes = [...source.matchAll(/^ {2}\| '([A-Z_]+)'/gmu)].map(([, code]) => code);
    expect(table.map(({ code }) => code).sort()).toEqual(codes.sort());
  });
});
