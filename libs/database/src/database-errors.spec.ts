import { describe, expect, it } from '@jest/globals';
import { databaseRefusal, isConnectionLoss } from './database-errors.js';

function coded(code: string): Error {
  return Object.assign(new Error('said so'), { code });
}

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
    '57014',
  ])('holds for %s', (code) => expect(isConnectionLoss(coded(code))).toBe(true));

  it.each(['42P01', '23505', '22P02', '28P01', '3D000', '57014X', 'EACCES'])('does not hold for %s', (code) => {
    expect(isConnectionLoss(coded(code))).toBe(false);
  });

  it('holds for what the driver says without a code', () => {
    expect(isConnectionLoss(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isConnectionLoss(new Error('timeout exceeded when trying to connect'))).toBe(true);
    expect(isConnectionLoss(new Error('a bug'))).toBe(false);
  });

  it('inspects causes, and the errors of all addresses of one host', () => {
    expect(isConnectionLoss(new Error('outer', { cause: coded('EPIPE') }))).toBe(true);
    expect(isConnectionLoss(new AggregateError([coded('EINVAL'), coded('ECONNREFUSED')]))).toBe(true);
    expect(isConnectionLoss(new AggregateError([coded('EINVAL')]))).toBe(false);
    expect(isConnectionLoss(undefined)).toBe(false);
    expect(isConnectionLoss('ECONNREFUSED')).toBe(false);
  });
});

describe('databaseRefusal', () => {
  it.each([
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN', message: 'self-signed' }, 'sslrootcert'],
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: 'x' }, 'another host'],
    [{ message: 'The server does not support SSL connections' }, 'remove sslmode'],
    [{ code: '28000', message: 'no pg_hba.conf entry for host "x", no encryption' }, 'add sslmode=verify-full'],
    [{ code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', message: 'alert certificate required' }, 'sslcert'],
    [{ code: '28P01', message: 'password authentication failed' }, 'the user and the password'],
    [{ code: '42501', message: 'permission denied for database "x"' }, 'make it a member of waypost_api'],
    [{ code: '3D000', message: 'database "x" does not exist' }, 'create the database'],
  ])('says what to do about %j', (error, fix) => expect(databaseRefusal(error)).toContain(fix));

  it('names the variable that the login is of', () => {
    expect(databaseRefusal(coded('28P01'), 'DATABASE_SCHEMA_URL')).toMatch(/the password in DATABASE_SCHEMA_URL\.$/);
  });

  it.each([{ code: 'ECONNREFUSED', message: 'connect' }, { code: '57P03', message: 'starting up' }, 'text', null])(
    'is null for an error that may go away by waiting: %j',
    (error) => expect(databaseRefusal(error)).toBeNull(),
  );
});
