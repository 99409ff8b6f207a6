/** The API key of a sign-in link, `/#key=wp_...`. The fragment of a URL is never sent to a server. */
export function keyOfLink(hash: string): string | null {
  const key = new URLSearchParams(hash.replace(/^#/, '')).get('key');
  return key === null || key === '' ? null : key;
}
