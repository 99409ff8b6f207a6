import { Inject, Injectable } from '@nestjs/common';
import { ApiKeyStore } from '@waypost/management-store';
import { CLOCK, CONFIG } from '@waypost/platform';
import { unknownApiKey } from '../auth/api-key.guard.js';
import type { Caller } from '../auth/caller.js';
import type { PublicApiConfig } from '../config.js';
import { tooMany } from '../errors/limit-reached.js';
import { noSuchFleet } from '../fleets/fleets.errors.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { type ListPage, ListPagesService } from '../paging/list-pages.service.js';
import type { ListQueryDto } from '../paging/paging.dto.js';
import { type ApiKeyDto, type ApiKeyWithKeyDto, type CreateApiKeyDto, toApiKey } from './api-keys.dto.js';
import { noSuchApiKey, scopesNotHeld } from './api-keys.errors.js';

/** API keys of one fleet. @throws ApiError for every refusal */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly keys: ApiKeyStore,
    private readonly pages: ListPagesService,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'http'>,
  ) {}

  /** Checked even before an earlier answer is repeated: it holds a key with these scopes. */
  requireScopes({ scopes: held }: Caller, { scopes }: CreateApiKeyDto): void {
    if (!scopes.every((scope) => held.includes(scope))) throw scopesNotHeld(scopes, held);
  }

  create(
    { fleetId, type, keyId }: Caller,
    { name, scopes }: CreateApiKeyDto,
    change: MakeChange<ApiKeyWithKeyDto>,
  ): Promise<ApiKeyWithKeyDto> {
    return change(async (stores) => {
      const madeWith = type === 'admin' ? null : keyId;
      const draft = { fleetId, name: name ?? null, scopes, madeWith, nowMs: this.nowMs() };
      const created = await stores.apiKeys.create(draft, this.config.http.fleetLimits);
      if (created.type === 'fleet_not_found') throw noSuchFleet();
      // It has just been trusted: what it makes now would outlive it.
      if (created.type === 'key_revoked') throw unknownApiKey();
      if (created.type === 'limit_reached') throw tooMany(created);
      return { answer: { ...toApiKey(created.stored), key: created.key }, outboxIds: [] };
    });
  }

  async list(fleetId: string, query: ListQueryDto): Promise<ListPage<ApiKeyDto>> {
    const walk = { fleetId, path: '/public/v1/api-keys' };
    const page = await this.pages.byCreation(
      walk,
      query,
      (wanted) => this.keys.list(wanted),
      (stored) => stored,
    );
    return { ...page, data: page.data.map(toApiKey) };
  }

  async get(fleetId: string, id: string): Promise<ApiKeyDto> {
    const stored = await this.keys.get({ fleetId, id });
    if (stored === null) throw noSuchApiKey();
    return toApiKey(stored);
  }

  async revoke(fleetId: string, id: string): Promise<void> {
    const revoked = await this.keys.revoke({ fleetId, id }, this.nowMs());
    if (revoked.type === 'not_found') throw noSuchApiKey();
  }
}
