/**
 * The bytes of a base64url text without padding, or null. Node's own decoder skips what it does not know, so that several
 * texts would stand for the same bytes.
 */
export function decodeBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
