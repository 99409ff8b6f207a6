const MASK = '[secret]';
/** A shorter beginning of a secret tells nothing, and may be there by chance. */
const LEAST_BEGINNING = 4;

/** The beginning of a response without the secrets in it, nor the beginning of one that its end has cut. */
export function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  // One character per byte, as in header values.
  let text = body.toString('latin1');
  for (const secret of secrets.filter(({ length }) => length > 0))
    text = withoutBeginning(text.replaceAll(secret, MASK), secret);
  return Buffer.from(text, 'latin1');
}

function withoutBeginning(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= LEAST_BEGINNING; length--)
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MASK;
  return text;
}
