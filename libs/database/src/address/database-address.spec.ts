import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { databaseAddress, databaseUrlProblems } from './database-address.js';

const URL_WITHOUT = 'postgres://waypost:p%40ss@db.example:5433/waypost';

describe('databaseAddress', () => {
  it.each([
    ['', false],
    ['?sslmode=disable', false],
    ['?ssl=false', false],
    ['?sslmode=require', { rejectUnauthorized: true }],
    ['?sslmode=verify-ca', { rejectUnauthorized: true }],
    ['?sslmode=verify-full', { rejectUnauthorized: true }],
    ['?ssl=1', { rejectUnauthorized: true }],
  ])('with %j verifies all or is plain', (query, ssl) => {
    expect(databaseAddress(URL_WITHOUT + query)).toEqual({ url: URL_WITHOUT, ssl });
  });

  it('reads the named certificates, and keeps settings unrelated to TLS', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waypost-'));
    const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => {
      writeFileSync(join(folder, name), name);
      return join(folder, name);
    }) as [string, string, string];
    const query = new URLSearchParams({ sslrootcert: ca, sslcert: cert, sslkey: key, application_name: 'x' });
    expect(databaseAddress(`${URL_WITHOUT}?${query.toString()}`)).toEqual({
      url: `${URL_WITHOUT}?application_name=x`,
      ssl: { rejectUnauthorized: true, ca: 'ca', cert: 'cert', key: 'key' },
    });
  });

  it.each([
    ...['sslmode=no-verify', 'sslmode=prefer', 'sslmode=allow', 'sslmode=', 'ssl=no-verify', 'ssl={}'],
    ...['sslmode=disable&ssl=true', 'sslmode=verify-full&ssl=0', 'sslmode=verify-full&sslmode=disable'],
    ...['sslmode=disable&sslrootcert=/ca.pem', 'ssl=0&sslrootcert=/ca.pem', 'sslmode=require&uselibpqcompat=true'],
    'sslcert=/c.pem',
  ])('is refused with %s', (query) => {
    const url = `${URL_WITHOUT}?${query}`;
    expect(() => databaseAddress(url)).toThrow(/^The URL of the database is not usable: /);
    expect(databaseUrlProblems(url)).toHaveLength(1);
  });
});
