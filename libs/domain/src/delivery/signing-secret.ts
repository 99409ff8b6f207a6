import { DomainError } from '../domain-error.js';

const PREFIX = 'whsec_';
const SHAPE = /^whsec_[A-Za-z0-9+/]+={0,2}$/;
/** The bounds of the Standard Webhooks specification; ours are 32 bytes long. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** A signing secret as its owner sees it. */
export function formatSigningSecret(bytes: Buffer): string {
  return PREFIX + requireLength(bytes).toString('base64');
}

/**
 * The bytes that sign, out of `whsec_` + base64.
 *
 * @throws DomainError `bad_secret` when it has another shape
 */
export function parseSigningSecret(text: string): Buffer {
  if (!SHAPE.test(text)) throw badSecret();
  return requireLength(Buffer.from(text.slice(PREFIX.length), 'base64'));
}

function requireLength(bytes: Buffer): Buffer {
  if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) throw badSecret();
  return bytes;
}

/** Says nothing of the text itself, which may be most of a secret. */
function badSecret(): DomainError {
  const bytes = `${String(MIN_BYTES)} to ${String(MAX_BYTES)} bytes`;
  return new DomainError('bad_secret', `A signing secret is "${PREFIX}" followed by the base64 of ${bytes}.`);
}
