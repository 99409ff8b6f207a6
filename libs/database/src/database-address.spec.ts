import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { databaseAddress } from './database-address.js';

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

  it.each(['sslmode=no-verify', 'sslmode=prefer', 'sslmode=allow', 'sslmode=', 'ssl=no-verify', 'ssl={}'])(
    'is refused with %s',
    (query) => expect(() => databaseAddress(`${URL_WITHOUT}?${query}`)).toThrow(/^DATABASE_URL with .* is refused/),
  );
});
