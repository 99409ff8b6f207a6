import { describe, expect, it } from '@jest/globals';
import {
  checkDatabase,
  checkRights,
  checkTables,
  type DatabaseFacts,
  type DatabaseLogin,
  databaseLogins,
} from './database-checks.js';

const SETTINGS = { url: 'postgres://db/waypost', schemaUrl: undefined, readUrl: 'postgres://standby/waypost' };
const PRIMARY: DatabaseLogin = {
  variable: 'DATABASE_URL',
  url: SETTINGS.url,
  makesTables: true,
  writes: true,
  purposes: ['waypost_api', 'waypost_projector'],
};
const STANDBY: DatabaseLogin = {
  variable: 'DATABASE_READ_URL',
  url: SETTINGS.readUrl,
  makesTables: false,
  writes: false,
  purposes: ['pages'],
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
    expect(checkTables(PRIMARY, { type: 'ahead', unknown: ['Later1'] }, null)).toMatchObject({
      level: 'problem',
      what: 'a newer version has changed its tables: Later1',
    });
    expect(checkTables(PRIMARY, { type: 'behind', missing: ['Now1'] }, null)).toMatchObject({ level: 'ok' });
    expect(checkTables(PRIMARY, { type: 'same' }, null)).toMatchObject({ level: 'ok' });
  });

  it.each([
    ['the primary has them', { type: 'same' }],
    ['the primary lacks fewer', { type: 'behind', missing: ['Now2'] }],
    ['the primary cannot be used', null],
  ] as const)('is that a standby without the newest tables is none, where %s', (_, primary) => {
    expect(checkTables(STANDBY, { type: 'behind', missing: ['Now1', 'Now2'] }, primary)).toMatchObject({
      level: 'problem',
      what: 'the database of DATABASE_READ_URL lacks 2 migrations of its tables',
      fix: expect.stringContaining('Name a standby'),
    });
  });

  it('is nothing of a standby without tables before the first set-up', () => {
    const schema = { type: 'behind', missing: ['Now1'] } as const;
    expect(checkTables(STANDBY, schema, schema)).toMatchObject({ level: 'ok' });
  });
});

describe('the rights on tables that the doctor wants (R-40)', () => {
  it('are those of the application, and of one that reads at a standby those of reading', () => {
    const purposes = (user?: Parameters<typeof databaseLogins>[1]) =>
      databaseLogins({ ...SETTINGS, schemaUrl: 'postgres://owner@db/waypost' }, user).map((login) => login.purposes);
    expect(purposes()).toEqual([['waypost_api', 'waypost_projector'], [], ['pages']]);
    expect(purposes('public-api')).toEqual([['waypost_api'], ['pages']]);
    expect(purposes('history-projector')).toEqual([['waypost_projector'], []]);
    expect(purposes('set-up')).toEqual([[], []]);
  });

  it('are named where a login lacks them, with the role that has them', () => {
    const missing = [
      'DELETE on fleets',
      'INSERT on fleets',
      'SELECT on fleets',
      'UPDATE on fleets',
      'SELECT on outbox',
    ];
    expect(checkRights({ ...PRIMARY, purposes: ['waypost_api'] }, missing)).toMatchObject([
      {
        level: 'problem',
        what: 'the login of DATABASE_URL has no DELETE on fleets, INSERT on fleets, SELECT on fleets and 2 more',
        fix: expect.stringMatching(/^GRANT waypost_api TO it\./),
      },
    ]);
    expect(checkRights(STANDBY, ['SELECT on migrations'])).toMatchObject([
      {
        what: 'the login of DATABASE_READ_URL has no SELECT on migrations',
        fix: expect.stringContaining('waypost_api'),
      },
    ]);
    expect(checkRights(PRIMARY, [])).toEqual([]);
  });
});
