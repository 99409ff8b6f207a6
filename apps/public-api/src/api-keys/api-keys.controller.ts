import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Req, UseGuards } from '@nestjs/common';
import type { ManagementStore } from '@waypost/management-store';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { CLOCK, IDEMPOTENT_REQUESTS, MANAGEMENT_STORE, PAGE_STATES } from '../dependencies.js';
import { noSuchFleet } from '../fleets/fleet-refusals.js';
import { isUuid } from '../http/parameter-readers.js';
import { refuseParameters } from '../http/refuse-parameters.js';
import type { IdempotentRequests, MakeChange } from '../idempotency/idempotent-requests.js';
import { readListPage } from '../page-state/list-page.js';
import type { PageStates } from '../page-state/page-states.js';
import { readBody } from '../request-body/read-body.js';
import { createApiKeyBody } from './api-key-body.js';
import { noSuchApiKey, scopesNotHeld } from './api-key-refusals.js';
import { type ApiKeyResource, type ApiKeyWithKey, toApiKeyResource } from './api-key-resource.js';

const PATH = '/public/v1/api-keys';

/** API keys of the caller's fleet. Another fleet's id is not found. */
@Controller(PATH)
@UseGuards(ApiKeyGuard)
export class ApiKeysController {
  constructor(
    @Inject(MANAGEMENT_STORE) private readonly store: Pick<ManagementStore, 'listApiKeys' | 'revokeApiKey'>,
    @Inject(PAGE_STATES) private readonly pageStates: PageStates,
    @Inject(IDEMPOTENT_REQUESTS) private readonly requests: IdempotentRequests,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  @Post()
  @RequireScope('keys:write')
  async create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: unknown,
  ): Promise<ApiKeyWithKey> {
    refuseParameters(request);
    const wanted = readBody(createApiKeyBody, body);
    // Before an earlier answer is given again, too: it holds a key with these scopes.
    if (!wanted.scopes.every((scope) => caller.scopes.includes(scope))) {
      throw scopesNotHeld(wanted.scopes, caller.scopes);
    }
    const { fleetId } = caller;
    return this.requests.answer(request, caller, (change: MakeChange<ApiKeyWithKey>) =>
      change(async (stores) => {
        const { name = null, scopes } = wanted;
        const made = await stores.createApiKey({ fleetId, name, scopes, nowMs: this.now() });
        if (made.type === 'fleet_not_found') throw noSuchFleet();
        return { answer: { ...toApiKeyResource(made.stored), key: made.key }, outboxIds: [] };
      }),
    );
  }

  @Get()
  @RequireScope('keys:read')
  async list(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
  ): Promise<{ data: ApiKeyResource[]; nextPageState: string | null }> {
    const list = { request, path: PATH, pageStates: this.pageStates, fleetId: caller.fleetId };
    const { page, nextPageState } = await readListPage(list, (query) => this.store.listApiKeys(query));
    return { data: page.map(toApiKeyResource), nextPageState };
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('keys:write')
  async revoke(@CurrentCaller() caller: Caller, @Req() request: Request, @Param('id') id: string): Promise<void> {
    refuseParameters(request);
    if (!isUuid(id)) throw noSuchApiKey();
    const revoked = await this.store.revokeApiKey({ fleetId: caller.fleetId, id: id.toLowerCase() }, this.now());
    if (revoked.type === 'not_found') throw noSuchApiKey();
  }
}
