/** What the API says of the key or the portal session. */
export interface Reader {
  readonly type: string;
  /** null: not known so far. */
  readonly scopes: readonly string[] | null;
  /** Only of a portal session that is limited to them. */
  readonly subscriptionIds?: readonly string[] | undefined;
  /** Absent or null: an operator has chosen none. */
  readonly fleetId?: string | null | undefined;
}

/** A scope, or what is done with it to the subscriptions of the fleet as a whole. */
export type Deed =
  | 'events:read'
  | 'paths:read'
  | 'geofences:write'
  | 'subscriptions:read'
  | 'subscriptions:write'
  | 'subscriptions:create'
  | 'subscriptions:delete';

/** What a page reads first: without this scope it would show nothing but a refusal. */
const SCOPES: Readonly<Record<string, Deed>> = {
  '/overview': 'events:read',
  '/deliveries': 'events:read',
  '/subscriptions': 'subscriptions:read',
  '/vehicles': 'paths:read',
};

/** Why a reader may not do this; null: they may, as far as is known. */
export function lackOf(reader: Reader | null, deed: Deed): string | null {
  if (reader === null || reader.scopes === null) return null;
  const who = reader.type === 'portal_session' ? 'session' : 'key';
  const scope = deed.replace(/:(create|delete)$/, ':write');
  if (!reader.scopes.includes(scope)) return `Your ${who} can only read: it lacks ${scope}.`;
  // A session that is limited to some has no scope that reaches further, but this one does both.
  const isLimited = reader.subscriptionIds !== undefined && scope !== deed;
  return isLimited ? `Your ${who} is limited to some subscriptions.` : null;
}

/** Whether the pages below this path are open to this reader. */
export function isOpen(path: string, reader: Reader | null): boolean {
  const scope = SCOPES[path];
  return scope === undefined || lackOf(reader, scope) === null;
}
