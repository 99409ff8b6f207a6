import { describe, expect, it } from '@jest/globals';
import { CopyRows } from './binary-copy.js';

/** The bytes before the first row of binary COPY data, and after the last. */
const BEFORE = '5047434f50590aff0d0a00' + '00000000' + '00000000';
const AFTER = 'ffff';

function written(write: (rows: CopyRows) => void): string {
  const rows = new CopyRows();
  write(rows);
  const hex = rows.finish().toString('hex');
  expect(hex.startsWith(BEFORE) && hex.endsWith(AFTER)).toBe(true);
  return hex.slice(BEFORE.length, -AFTER.length);
}

describe('CopyRows', () => {
  it('starts a row with the number of its columns', () => expect(written((rows) => rows.startRow(19))).toBe('0013'));

  it('writes a UUID as its 16 bytes, whatever the case of its digits', () => {
    const bytes = '00000010' + '6ba7b8109dad11d180b400c04fd430c8';
    expect(written((rows) => rows.uuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8'))).toBe(bytes);
    expect(written((rows) => rows.uuid('6BA7B810-9DAD-11D1-80B4-00C04FD430C8'))).toBe(bytes);
  });

  it.each([
    '',
    '6ba7b810-9dad-11d1-80b4-00c04fd430c',
    '6ba7b810-9dad-11d1-80b4-00c04fd430c81',
    '6ba7b81009dad-11d1-80b4-00c04fd430c8',
    '6ba7b810-9dad-11d1-80b4-00c04fd430cg',
    '6ba7b810-9dad-11d1-80b4-00c04fd430c/',
    '6ba7b810-9dad-11d1-80b4-00c04fd430c:',
    '6ba7b810-9dad-11d1-80b4-00c04fd430c`',
  ])('refuses %j as a UUID', (text) => expect(() => written((rows) => rows.uuid(text))).toThrow(RangeError));

  it.each([
    ['2000-01-01T00:00:00.000Z', 0n],
    ['2000-01-01T00:00:00.001Z', 1_000n],
    ['1999-12-31T23:59:59.999Z', -1_000n],
    ['1970-01-01T00:00:00.000Z', -946_684_800_000_000n],
    ['2000-01-01T01:11:34.967Z', 4_294_967_000n],
    ['2000-01-01T01:11:34.968Z', 4_294_968_000n],
    ['2300-01-01T00:00:00.001Z', 9_467_107_200_001_000n],
    ['9999-12-31T23:59:59.999Z', 252_455_615_999_999_000n],
  ])('writes %s as microseconds since 2000', (iso, micros) => {
    const expected = Buffer.alloc(8);
    expected.writeBigInt64BE(micros);
    expect(written((rows) => rows.timestamp(Date.parse(iso)))).toBe(`00000008${expected.toString('hex')}`);
  });

  it('writes integers in four bytes, and null as a length of -1', () => {
    expect(written((rows) => rows.integer(503))).toBe('00000004000001f7');
    expect(written((rows) => rows.integer(-1))).toBe('00000004ffffffff');
    expect(written((rows) => rows.integer(null))).toBe('ffffffff');
    expect(written((rows) => rows.timestamp(null))).toBe('ffffffff');
  });

  it('writes bigints in eight bytes', () => {
    expect(written((rows) => rows.bigint(4_294_967_297))).toBe('00000008' + '0000000100000001');
    expect(written((rows) => rows.bigint(-1))).toBe('00000008' + 'ffffffffffffffff');
    expect(written((rows) => rows.bigint(null))).toBe('ffffffff');
  });

  it('writes doubles as in IEEE 754, and booleans in one byte', () => {
    expect(written((rows) => rows.double(1))).toBe('00000008' + '3ff0000000000000');
    expect(written((rows) => rows.double(-0.1))).toBe('00000008' + 'bfb999999999999a');
    expect(written((rows) => rows.double(null))).toBe('ffffffff');
    expect(written((rows) => rows.boolean(true))).toBe('0000000101');
    expect(written((rows) => rows.boolean(false))).toBe('0000000100');
    expect(written((rows) => rows.boolean(null))).toBe('ffffffff');
  });

  it('writes text in UTF-8 after the number of its bytes', () => {
    expect(written((rows) => rows.text(''))).toBe('00000000');
    expect(written((rows) => rows.text('é🚚'))).toBe('00000006' + 'c3a9' + 'f09f9a9a');
  });

  it('grows with its rows', () => {
    const text = '🚚'.repeat(100_000);
    const hex = written((rows) => {
      for (let row = 0; row < 3; row += 1) {
        rows.startRow(2);
        rows.text(text);
        rows.integer(row);
      }
    });
    const length = (400_000).toString(16).padStart(8, '0');
    const rowOf = (row: number): string => `0002${length}${'f09f9a9a'.repeat(100_000)}000000040000000${String(row)}`;
    expect(hex === rowOf(0) + rowOf(1) + rowOf(2)).toBe(true);
  });
});
