import { Inject, Injectable } from '@nestjs/common';
import { formatTime, RETENTION_MS } from '@waypost/domain';
import { FleetPortalStore, PortalSessionStore } from '@waypost/management-store';
import { CLOCK, CONFIG } from '@waypost/platform';
import type { Caller, RequestIdentity } from '../auth/caller.js';
import type { PublicApiConfig } from '../config.js';
import { toBranding } from '../portal-settings/portal-settings.dto.js';
import type { SessionDto } from './current-session.dto.js';

/** Tells callers who they are. */
@Injectable()
export class CurrentSessionService {
  constructor(
    private readonly portals: FleetPortalStore,
    private readonly sessions: PortalSessionStore,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'mapTiles'>,
  ) {}

  async describe(identity: RequestIdentity): Promise<SessionDto> {
    if (identity.type === 'caller') return this.describeCaller(identity.caller);
    // The guard lets no other caller in.
    return { type: 'admin', scopes: [], ...this.describeInstallation() };
  }

  private async describeCaller({
    type,
    keyId,
    fleetId,
    scopes,
    subscriptionIds,
    expiresAt,
  }: Caller): Promise<SessionDto> {
    const portal = await this.portals.of(fleetId, this.nowMs());
    const session = type === 'portal_session' ? await this.sessions.get({ fleetId, id: keyId }) : null;
    const returnUrl = session?.returnUrl ?? null;
    return {
      type,
      fleetId,
      scopes: [...scopes],
      ...(subscriptionIds === null ? {} : { subscriptionIds: [...subscriptionIds] }),
      ...(expiresAt === null ? {} : { expiresAt: formatTime(expiresAt) }),
      ...(returnUrl === null ? {} : { returnUrl }),
      ...(portal === null ? {} : { branding: toBranding(portal) }),
      ...this.describeInstallation(),
    };
  }

  /** The same for every caller. */
  private describeInstallation(): Pick<SessionDto, 'mapTiles' | 'historyRetentionMs'> {
    const { mapTiles } = this.config;
    return {
      ...(mapTiles === null ? {} : { mapTiles: { url: mapTiles.url, attribution: mapTiles.attribution } }),
      historyRetentionMs: RETENTION_MS,
    };
  }
}
