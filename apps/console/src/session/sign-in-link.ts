/** The API key of a sign-in link, `/#key=wp_...`. The fragment of a URL is never sent to a server. */
export function keyOfLink(hash: string): string | null {
  return parameterOf(hash, 'key');
}

/** The code of a link to the portal, `/portal/...#portal=wpc_...`, which opens a session once. */
export function portalCodeOfLink(hash: string): string | null {
  return parameterOf(hash, 'portal');
}

/** Whether it signs in the person who opens it, also in place of somebody else. */
export function isSignInLink(hash: string): boolean {
  return keyOfLink(hash) !== null || portalCodeOfLink(hash) !== null;
}

/**
 * A browser loads nothing for an address of which only the fragment has changed. Loading the page signs in, and leaves nothing of
 * the session before.
 */
export function loadPastedLinks(): void {
  addEventListener('hashchange', () => {
    if (isSignInLink(location.hash)) location.reload();
  });
}

function parameterOf(hash: string, name: string): string | null {
  const value = new URLSearchParams(hash.replace(/^#/, '')).get(name);
  return value === null || value === '' ? null : value;
}
