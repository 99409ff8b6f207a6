import { Body, Controller, Delete, Get, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { TRUST_KEY_MS } from '../auth/key-directory.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { setLocation } from '../endpoint/location.js';
import { durationText } from '../endpoint/prose.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { ListQueryDto } from '../paging/paging.dto.js';
import { ApiKeyDto, ApiKeyPageDto, ApiKeyPathDto, ApiKeyWithKeyDto, CreateApiKeyDto } from './api-keys.dto.js';
import { ApiKeysService } from './api-keys.service.js';

/** API keys of the caller's fleet. Another fleet's id is not found. */
@Controller('/public/v1/api-keys')
export class ApiKeysController {
  constructor(
    private readonly service: ApiKeysService,
    private readonly requests: IdempotentRequests,
  ) {}

  @Post()
  @Endpoint({
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description:
      'The new key is for the fleet of the calling key, and can only have scopes of that key; any other scope gets a 403. The number of keys that are not revoked is limited (`too_many_api_keys`).',
    tag: 'Fleet',
    scope: 'keys:write',
    portal: 'refused',
    response: { status: 201, description: 'The key. It is valid at once.', type: ApiKeyWithKeyDto },
    errors: [404, 409],
    idempotencyKey: true,
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: CreateApiKeyDto,
  ): Promise<ApiKeyWithKeyDto> {
    this.service.requireScopes(caller, body);
    return setLocation(
      request,
      this.requests.answer(request, caller, (change) => this.service.create(caller, body, change)),
    );
  }

  @Get()
  @Endpoint({
    operationId: 'listApiKeys',
    summary: 'List API keys, oldest first, including revoked ones',
    description: 'Revoked keys stay listed up to the limit of live keys; the most recently revoked are kept.',
    tag: 'Fleet',
    scope: 'keys:read',
    portal: 'refused',
    response: { status: 200, description: 'A page of API keys.', type: ApiKeyPageDto },
  })
  list(@CurrentCaller() { fleetId }: Caller, @Query() query: ListQueryDto): Promise<ApiKeyPageDto> {
    return this.service.list(fleetId, query);
  }

  @Get(':id')
  @Endpoint({
    operationId: 'getApiKey',
    summary: 'Read an API key',
    description:
      'Without the key itself, which is shown only once. Revoked keys can be read as long as they are listed.',
    tag: 'Fleet',
    scope: 'keys:read',
    portal: 'refused',
    response: { status: 200, description: 'The API key.', type: ApiKeyDto },
    errors: [404],
  })
  get(@CurrentCaller() { fleetId }: Caller, @Param() { id }: ApiKeyPathDto): Promise<ApiKeyDto> {
    return this.service.get(fleetId, id);
  }

  @Delete(':id')
  @Endpoint({
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: `Permanent; a key can revoke itself. Processes that have just accepted the key may accept it for ${durationText(TRUST_KEY_MS)} more, though not to create keys or portal sessions. Revoking it again changes nothing while it is listed; after that it is not found.`,
    tag: 'Fleet',
    scope: 'keys:write',
    portal: 'refused',
    response: { status: 204, description: 'It is revoked.' },
    errors: [404],
  })
  revoke(@CurrentCaller() { fleetId }: Caller, @Param() { id }: ApiKeyPathDto): Promise<void> {
    return this.service.revoke(fleetId, id);
  }
}
