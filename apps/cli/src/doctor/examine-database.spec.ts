import { describe, expect, it } from '@jest/globals';
import {
  checkDatabase,
  checkTables,
  type DatabaseFacts,
  type DatabaseLogin,
  databaseLogins,
} from './examine-database.js';

const SETTINGS = { url: 'postgres://db/waypost', schemaUrl: undefined, readUrl: 'postgres://standby/waypost' };
const PRIMARY: DatabaseLogin = { variable: 'DATABASE_URL', url: SETTINGS.url, makesTables: true, writes: true };
const STANDBY: DatabaseLogin = {
  variable: 'DATABASE_READ_URL',
  url: SETTINGS.readUrl,
  makesTables: false,
  writes: false,
};
const GOOD: DatabaseFacts = {
  version: '160004',
  readonly: 'off',
  encoding: 'UTF8',
  connections: '100',
  mayCreateTables: true,
  isSuperuser: false,
  bypassesRowSecurity: false,
  at: 0,
};

function faultsOf(login: DatabaseLogin, facts: Partial<DatabaseFacts>) {
  return checkDatabase(login, { ...GOOD, ...facts }, 0).filter(({ level }) => level !== 'ok');
}

describe('the logins that the doctor looks at (R-40)', () => {
  it('include that of the standby where pages are read, and nowhere else', () => {
    const variables = (user?: Parameters<typeof databaseLogins>[1]) =>
      databaseLogins(SETTINGS, user).map(({ variable }) => variable);
    expect(variables()).toEqual(['DATABASE_URL', 'DATABASE_READ_URL']);
    expect(variables('public-api')).toEqual(['DATABASE_URL', 'DATABASE_READ_URL']);
    expect(variables('history-projector')).toEqual(['DATABASE_URL']);
    expect(databaseLogins(SETTINGS)[1]).toEqual(STANDBY);
  });
});

describe('what the doctor says of a database (R-40)', () => {
  it('is nothing of one that is as wanted', () => {
    expect(faultsOf(PRIMARY, {})).toEqual([]);
  });

  it('is that a standby may be read-only, have few connections and make no tables, and must be as new', () => {
    const found = { readonly: 'on', connections: '30', mayCreateTables: false };
    expect(faultsOf(STANDBY, found)).toEqual([]);
    expect(faultsOf(PRIMARY, found).map(({ level }) => level)).toEqual(['problem', 'problem', 'warning']);
    expect(faultsOf(STANDBY, { version: '120010' })).toMatchObject([{ level: 'problem', what: 'PostgreSQL 12' }]);
  });

  it.each([
    ['is a superuser', { isSuperuser: true, bypassesRowSecurity: true }],
    ['has BYPASSRLS', { bypassesRowSecurity: true }],
  ])('is that row-level security does not hold for a login that %s', (what, facts) => {
    expect(faultsOf(PRIMARY, facts)).toMatchObject([
      {
        level: 'warning',
        what: `the login of DATABASE_URL ${what}`,
        fix: expect.stringContaining('Row-level security'),
      },
    ]);
  });

  it.each([
    [120_000, 'its clock differs by 120 s'],
    [-120_000, 'its clock differs by -120 s'],
  ])('is that its clock is %d ms ahead', (at, what) => {
    expect(faultsOf(PRIMARY, { at })).toMatchObject([{ level: 'warning', what }]);
  });

  it('is that tables of a newer version need that version, and that older ones are brought up to date', () => {
    expect(checkTables({ type: 'ahead', unknown: ['Later1'] })).toMatchObject({
      level: 'problem',
      what: 'a newer version has changed its tables: Later1',
    });
    expect(checkTables({ type: 'behind', missing: ['Now1'] })).toMatchObject({ level: 'ok' });
    expect(checkTables({ type: 'same' })).toMatchObject({ level: 'ok' });
  });
});
