import type { Reader } from './access.js';

/** The portal of a fleet and, as in the link of a session, the session. */
const PORTAL = /^(\/portal\/[0-9a-f-]{36})(?:\/[0-9a-f-]{36})?(?=\/|$)/;
/** A fleet id as in libs/domain, which browsers do not load; test/console compares them. */
const FLEET = /^\/fleets\/([A-Za-z0-9][A-Za-z0-9._-]{0,127})(?=\/|$)/;

/** The part of a path that all pages of a portal session share, or those of a fleet for an operator; empty for the console itself. */
export function baseOf(pathname: string): string {
  return PORTAL.exec(pathname)?.[0] ?? FLEET.exec(pathname)?.[0] ?? '';
}

/** A name in the storage of the tab, which its frames share: each session has its own, so that frames of two do not mix. */
export function storedName(name: string, pathname: string): string {
  return name + (PORTAL.exec(pathname)?.[0] ?? '');
}

/**
 * A name in the browser's storage, which outlives a session. Each fleet has its own name, because an operator, or a user with
 * several keys, may open several fleets in one browser. Portal sessions share a name only if they see the same subscriptions
 * . `reader` is null until it is known; that has a name of its own.
 */
export function lastingName(
  name: string,
  pathname: string,
  reader: Pick<Reader, 'subscriptionIds' | 'fleetId'> | null,
): string {
  const portal = PORTAL.exec(pathname)?.[1];
  if (portal === undefined) return `${name}/fleets/${fleetOf(pathname) ?? reader?.fleetId ?? '?'}`;
  if (reader === null) return `${storedName(name, pathname)} ?`;
  const ids = reader.subscriptionIds?.toSorted() ?? [];
  return [name + portal, ...ids].join(' ');
}

export function isPortal(pathname: string): boolean {
  return PORTAL.test(pathname);
}

/** The fleet that an operator has chosen; null: none. */
export function fleetOf(pathname: string): string | null {
  return FLEET.exec(pathname)?.[1] ?? null;
}
