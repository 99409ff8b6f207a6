/** The API key of a sign-in link, `/#key=wp_...`. The fragment of a URL is never sent to a server. */
export function keyOfLink(hash: string): string | null {
  return parameterOf(hash, 'key');
}

/** The code of a link to the portal, `/portal/...#portal=wpc_...`, which opens a session once. */
export function portalCodeOfLink(hash: string): string | null {
  return parameterOf(hash, 'portal');
}

function parameterOf(hash: string, name: string): string | null {
  const value = new URLSearchParams(hash.replace(/^#/, '')).get(name);
  return value === null || value === '' ? null : value;
}
