/** SQLSTATE classes and codes by which the server says that it cannot do it now, but may later. */
const AWAY_CLASSES = ['08', '53', '57P'];
const AWAY_STATES = new Set([
  '25006', // a server that became a standby
  '25P03', // the transaction was idle for too long, e.g. this process was stopped meanwhile
  '40001',
  '40P01',
  '57014', // cancelled by a time limit
]);

const AWAY_ERRNOS = new Set([
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

/** What pg and TypeORM say without a code when a connection is gone. */
const AWAY_MESSAGES = [
  /^Connection terminated/,
  /timeout exceeded when trying to connect/,
  /^timeout expired/,
  /is not queryable$/,
  /^Query read timeout/,
  /Query runner already released/i,
];

/** Whether a call gave up waiting for what another transaction holds; nothing was done. */
export const isLockTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '55P03';

/**
 * Whether a database call failed because the database is away or busy, so that the same call may succeed later. Whether a
 * COMMIT that failed this way took effect is unknown: the stored position tells.
 */
export function isConnectionLoss(error: unknown): boolean {
  // By shape: drivers throw errors of several kinds, and not all of them from this realm.
  if (typeof error !== 'object' || error === null) return false;
  const { code, message, errors, cause } = error as Partial<Record<'code' | 'message' | 'errors' | 'cause', unknown>>;
  if (typeof code === 'string' && isAwayCode(code)) return true;
  if (typeof message === 'string' && AWAY_MESSAGES.some((pattern) => pattern.test(message))) return true;
  if (Array.isArray(errors) && errors.some(isConnectionLoss)) return true;
  return isConnectionLoss(cause);
}

const isAwayCode = (code: string): boolean =>
  AWAY_ERRNOS.has(code) ||
  AWAY_STATES.has(code) ||
  (code.length === 5 && AWAY_CLASSES.some((prefix) => code.startsWith(prefix)));
