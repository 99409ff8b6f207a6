import { Inject, Injectable } from '@nestjs/common';
import { formatTime, MINUTE_MS } from '@waypost/domain';
import { FleetPortalStore, type PortalScope, PortalSessionStore, SubscriptionStore } from '@waypost/management-store';
import { CLOCK, CONFIG } from '@waypost/platform';
import { scopesNotHeld } from '../api-keys/api-keys.errors.js';
import { unknownApiKey } from '../auth/api-key.guard.js';
import type { Caller } from '../auth/caller.js';
import type { PublicApiConfig } from '../config.js';
import { tooMany } from '../errors/limit-reached.js';
import { noSuchFleet } from '../fleets/fleets.errors.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { type ListPage, ListPagesService } from '../paging/list-pages.service.js';
import type { ListQueryDto } from '../paging/paging.dto.js';
import {
  type CreatePortalSessionDto,
  MAX_SESSION_S,
  type PortalSessionDto,
  type PortalSessionWithLinkDto,
  type PortalTokenDto,
  toPortalSession,
} from './portal-sessions.dto.js';
import {
  noSuchPortalSession,
  onlyKeys,
  unknownSubscriptions,
  unlimitedScopes,
  unusableCode,
} from './portal-sessions.errors.js';

/** Long enough to open a frame or to follow a redirect, and no longer. */
export const CODE_LIFETIME_MS = 2 * MINUTE_MS;

/** Scopes whose endpoints keep to the subscriptions of a session; those of the others say something about the whole fleet. */
const LIMITED_SCOPES: readonly PortalScope[] = ['events:read', 'subscriptions:read', 'subscriptions:write'];

/** Portal sessions of one fleet. @throws ApiError for every refusal */
@Injectable()
export class PortalSessionsService {
  constructor(
    private readonly sessions: PortalSessionStore,
    private readonly portals: FleetPortalStore,
    private readonly subscriptions: SubscriptionStore,
    private readonly pages: ListPagesService,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'http'>,
  ) {}

  /** Checked even before an earlier answer is repeated: it holds a link to a session with these scopes. */
  requireScopes({ type, scopes: held }: Caller, { scopes, subscriptionIds }: CreatePortalSessionDto): void {
    if (type === 'portal_session') throw onlyKeys();
    if (!scopes.every((scope) => held.includes(scope))) throw scopesNotHeld(scopes, held);
    const unlimited = scopes.filter((scope) => !LIMITED_SCOPES.includes(scope));
    if (subscriptionIds !== undefined && unlimited.length > 0) throw unlimitedScopes(scopes, unlimited);
  }

  /** @param consoleUrl where the console is, without a final slash */
  async create(
    { fleetId, type, keyId }: Caller,
    body: CreatePortalSessionDto,
    consoleUrl: string,
    change: MakeChange<PortalSessionWithLinkDto>,
  ): Promise<PortalSessionWithLinkDto> {
    const { scopes, subscriptionIds = null, returnUrl = null } = body;
    const { expiresInSeconds, expiresIn = expiresInSeconds ?? MAX_SESSION_S } = body;
    if (subscriptionIds !== null) await this.requireSubscriptions(fleetId, subscriptionIds);
    const nowMs = this.nowMs();
    const portal = await this.portals.of(fleetId, nowMs);
    if (portal === null) throw noSuchFleet();
    const expiresAt = nowMs + expiresIn * 1_000;
    const codeExpiresAt = Math.min(nowMs + CODE_LIFETIME_MS, expiresAt);
    const maker = type === 'admin' ? { keyId: null, adminKeyId: keyId } : { keyId, adminKeyId: null };
    const session = { fleetId, ...maker, scopes, subscriptionIds, returnUrl, codeExpiresAt, expiresAt, nowMs };
    return change(async (stores) => {
      const created = await stores.portalSessions.create(session, this.config.http.fleetLimits);
      if (created.type === 'fleet_not_found') throw noSuchFleet();
      if (created.type === 'key_revoked') throw unknownApiKey();
      if (created.type === 'limit_reached') throw tooMany(created);
      const { code, stored } = created;
      // The id is not a secret. In the address it keeps apart what sessions of the fleet store in frames of one page.
      const link = `${consoleUrl}/portal/${portal.portalId}/${stored.id}#portal=${code}`;
      return {
        answer: { ...toPortalSession(stored), link, linkExpiresAt: formatTime(codeExpiresAt) },
        outboxIds: [],
      };
    });
  }

  async exchange(code: string): Promise<PortalTokenDto> {
    const exchanged = await this.sessions.exchange(code, this.nowMs());
    if (exchanged.type === 'not_found') throw unusableCode();
    return { token: exchanged.token, expiresAt: formatTime(exchanged.stored.expiresAt) };
  }

  async list(fleetId: string, query: ListQueryDto): Promise<ListPage<PortalSessionDto>> {
    const page = await this.pages.byCreation(
      { fleetId, path: '/public/v1/portal-sessions' },
      query,
      (wanted) => this.sessions.list(wanted),
      (stored) => stored,
    );
    return { ...page, data: page.data.map(toPortalSession) };
  }

  async get(fleetId: string, id: string): Promise<PortalSessionDto> {
    const stored = await this.sessions.get({ fleetId, id });
    if (stored === null) throw noSuchPortalSession();
    return toPortalSession(stored);
  }

  async revoke(fleetId: string, id: string): Promise<void> {
    const revoked = await this.sessions.revoke({ fleetId, id }, this.nowMs());
    if (revoked.type === 'not_found') throw noSuchPortalSession();
  }

  private async requireSubscriptions(fleetId: string, ids: readonly string[]): Promise<void> {
    const found = await this.subscriptions.existing(fleetId, ids);
    if (found.length < ids.length) throw unknownSubscriptions(ids, found);
  }
}
