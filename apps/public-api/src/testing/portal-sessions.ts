import { API_KEY_SCOPES, type ManagementStore, PORTAL_SCOPES, type PortalScope } from '@waypost/management-store';

const HOUR_MS = 3_600_000;

interface OpenedSession {
  readonly id: string;
  readonly token: string;
  /** The API key that made it. */
  readonly keyId: string;
}

/** A portal session whose link has been opened. */
export async function openPortalSession(
  { apiKeys, portalSessions }: Pick<ManagementStore, 'apiKeys' | 'portalSessions'>,
  session: {
    readonly fleetId: string;
    readonly nowMs: number;
    readonly subscriptionIds?: readonly string[] | null;
    readonly scopes?: readonly PortalScope[];
  },
): Promise<OpenedSession> {
  const { fleetId, nowMs, subscriptionIds = null, scopes = PORTAL_SCOPES } = session;
  const key = await apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs });
  if (key.type !== 'created') throw new Error(key.type);
  const expiresAt = nowMs + HOUR_MS;
  const row = {
    fleetId,
    keyId: key.id,
    adminKeyId: null,
    scopes,
    subscriptionIds,
    returnUrl: null,
    codeExpiresAt: expiresAt,
    expiresAt,
  };
  const created = await portalSessions.create({ ...row, nowMs });
  if (created.type !== 'created') throw new Error(created.type);
  const opened = await portalSessions.exchange(created.code, nowMs);
  if (opened.type !== 'exchanged') throw new Error('The link does not open.');
  return { id: opened.stored.id, token: opened.token, keyId: key.id };
}
