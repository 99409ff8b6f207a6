import { QueryFailedError } from 'typeorm';
import { API_ROLE, PROJECTOR_ROLE } from './database-roles.js';

export const UNIQUE_VIOLATION = '23505';
export const LOCK_NOT_AVAILABLE = '55P03';
export const DEADLOCK_DETECTED = '40P01';
const INSUFFICIENT_PRIVILEGE = '42501';

/** SQLSTATE classes and codes by which the server says that it cannot run the call now, but may later. */
const UNAVAILABLE_CLASSES = ['08', '53', '57P'];
const UNAVAILABLE_STATES = new Set([
  '25006', // a server that became a standby
  '25P03', // the transaction was idle for too long, e.g. this process was stopped meanwhile
  '40001',
  DEADLOCK_DETECTED,
  '57014', // cancelled by a time limit
]);

const UNAVAILABLE_ERRNOS = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** What pg and TypeORM report without a code when a connection is gone. */
const UNAVAILABLE_MESSAGES = [
  /^Connection terminated/,
  /timeout exceeded when trying to connect/,
  /^timeout expired/,
  /is not queryable$/,
  /^Query read timeout/,
  /Query runner already released/i,
];

/** OpenSSL's codes for a certificate that has no trusted authority or is outside its validity. */
const UNTRUSTED_CERTIFICATE = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const FIXES: readonly (readonly [applies: (code: string, message: string) => boolean, fix: string])[] = [
  [
    (code) => UNTRUSTED_CERTIFICATE.has(code),
    'the certificate of the server is not trusted: name its certificate authority with sslrootcert=/path/ca.pem in DATABASE_URL',
  ],
  [
    (code) => code === 'ERR_TLS_CERT_ALTNAME_INVALID',
    'the certificate of the server is for another host: use its host name in DATABASE_URL',
  ],
  [
    (_, message) => /does not support SSL connections/.test(message),
    'the server has no TLS: switch it on there, or remove sslmode from DATABASE_URL',
  ],
  [
    (code, message) => code === '28000' && /no encryption|SSL off/i.test(message),
    'the server requires TLS: add sslmode=verify-full to DATABASE_URL',
  ],
  [
    (code, message) => /ALERT|alert/.test(code + message) && /cert|unknown ca/i.test(code + message),
    'the server does not accept the certificate of this client: check sslcert and sslkey in DATABASE_URL',
  ],
  [(code) => code === '28P01' || code === '28000', 'check the user and the password in DATABASE_URL'],
  [
    (code) => code === INSUFFICIENT_PRIVILEGE,
    `this login lacks rights: make it a member of ${API_ROLE} or ${PROJECTOR_ROLE}, or grant it CONNECT on the database and, if it makes the tables, CREATE on their schema`,
  ],
  [(code) => code === '3D000', 'create the database, or name another one in DATABASE_URL'],
];

export function sqlState(error: unknown): string | null {
  if (!(error instanceof QueryFailedError)) return null;
  const { code } = error.driverError as { code?: unknown };
  return typeof code === 'string' ? code : null;
}

/** Whether a call gave up waiting for a lock of another transaction; nothing was done. */
export function isLockTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
}

/**
 * Whether a call failed because the database is unreachable or busy, so that the same call may succeed later. Whether a
 * COMMIT that failed this way took effect is unknown: read the stored position to find out.
 */
export function isConnectionLoss(error: unknown): boolean {
  // Judged by shape: drivers throw errors of several kinds, and not all of them from this realm.
  if (typeof error !== 'object' || error === null) return false;
  const { code, message, errors, cause } = error as Partial<Record<'code' | 'message' | 'errors' | 'cause', unknown>>;
  if (typeof code === 'string' && isUnavailableCode(code)) return true;
  if (typeof message === 'string' && UNAVAILABLE_MESSAGES.some((pattern) => pattern.test(message))) return true;
  if (Array.isArray(errors) && errors.some(isConnectionLoss)) return true;
  return isConnectionLoss(cause);
}

function isUnavailableCode(code: string): boolean {
  return (
    UNAVAILABLE_ERRNOS.has(code) ||
    UNAVAILABLE_STATES.has(code) ||
    (code.length === 5 && UNAVAILABLE_CLASSES.some((prefix) => code.startsWith(prefix)))
  );
}

/** For people, when waiting does not help; null for any other error. `variable` names the setting with the URL of the login. */
export function databaseRefusal(error: unknown, variable = 'DATABASE_URL'): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, message } = error as Partial<Record<'code' | 'message', unknown>>;
  const codeText = typeof code === 'string' ? code : '';
  const messageText = typeof message === 'string' ? message : '';
  const fix = FIXES.find(([applies]) => applies(codeText, messageText))?.[1];
  if (fix === undefined) return null;
  return `The database cannot be used (${messageText}): ${fix.replace('DATABASE_URL', variable)}.`;
}

/**
 * PostgreSQL text has every character but U+0000, which a device may send in its names. It is replaced by U+FFFD in rows and
 * in filters, so that such a delivery is stored and found.
 */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
