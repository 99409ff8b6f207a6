/** U+001F, UNIT SEPARATOR. checkPing lets no id through that holds it. */
const SEPARATOR = '\u001f';

/** One text out of several ids: no two lists of ids without control characters give the same. */
export function joinIds(...ids: readonly string[]): string {
  return ids.join(SEPARATOR);
}

export function splitIds(joined: string): string[] {
  return joined.split(SEPARATOR);
}
