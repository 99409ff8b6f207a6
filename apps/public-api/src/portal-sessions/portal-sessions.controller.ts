import { Body, Controller, Delete, Get, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { CONFIG } from '@waypost/platform';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import type { PublicApiConfig } from '../config.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { setLocation } from '../endpoint/location.js';
import { durationText } from '../endpoint/prose.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { ListQueryDto } from '../paging/paging.dto.js';
import {
  CreatePortalSessionDto,
  ExchangePortalCodeDto,
  PortalSessionDto,
  PortalSessionPageDto,
  PortalSessionPathDto,
  PortalSessionWithLinkDto,
  PortalTokenDto,
} from './portal-sessions.dto.js';
import { CODE_LIFETIME_MS, PortalSessionsService } from './portal-sessions.service.js';

const tag = 'Portal';

/** The console for the customers of a platform. Another fleet's id is not found. */
@Controller('/public/v1/portal-sessions')
export class PortalSessionsController {
  constructor(
    private readonly service: PortalSessionsService,
    private readonly requests: IdempotentRequests,
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'http'>,
  ) {}

  @Post()
  @Endpoint({
    operationId: 'createPortalSession',
    summary: 'Create a portal session',
    description: `Creates a link that opens the console once, for one of your customers, limited to these scopes and subscriptions. The link is valid for ${durationText(CODE_LIFETIME_MS)}. The number of sessions that have not ended is limited (\`too_many_portal_sessions\`): revoke some, or the API key that created them, or wait until they expire.`,
    tag,
    scope: 'portal:write',
    portal: 'refused',
    response: { status: 201, description: 'The session and its link.', type: PortalSessionWithLinkDto },
    errors: [404, 409],
    idempotencyKey: true,
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: CreatePortalSessionDto,
  ): Promise<PortalSessionWithLinkDto> {
    this.service.requireScopes(caller, body);
    const consoleUrl = this.consoleUrl(request);
    return setLocation(
      request,
      this.requests.answer(request, caller, (change) => this.service.create(caller, body, consoleUrl, change)),
    );
  }

  @Post('exchange')
  @Endpoint({
    operationId: 'exchangePortalCode',
    summary: 'Open a portal session',
    description: 'Exchanges the code in the link for the token of the session; this works once. The console does it.',
    tag,
    scope: null,
    portal: 'refused',
    response: { status: 200, description: 'The token.', type: PortalTokenDto },
    errors: [404],
  })
  exchange(@Body() { code }: ExchangePortalCodeDto): Promise<PortalTokenDto> {
    return this.service.exchange(code);
  }

  @Get()
  @Endpoint({
    operationId: 'listPortalSessions',
    summary: 'List portal sessions, oldest first',
    description:
      'Ended sessions stay listed for a day, but no more of them than the limit of live sessions; the most recently created are kept.',
    tag,
    scope: 'portal:read',
    portal: 'refused',
    response: { status: 200, description: 'A page of portal sessions.', type: PortalSessionPageDto },
  })
  list(@CurrentCaller() { fleetId }: Caller, @Query() query: ListQueryDto): Promise<PortalSessionPageDto> {
    return this.service.list(fleetId, query);
  }

  @Get(':id')
  @Endpoint({
    operationId: 'getPortalSession',
    summary: 'Read a portal session',
    description: 'Without its link, which is shown only once. Ended sessions can be read as long as they are listed.',
    tag,
    scope: 'portal:read',
    portal: 'refused',
    response: { status: 200, description: 'The portal session.', type: PortalSessionDto },
    errors: [404],
  })
  get(@CurrentCaller() { fleetId }: Caller, @Param() { id }: PortalSessionPathDto): Promise<PortalSessionDto> {
    return this.service.get(fleetId, id);
  }

  @Delete(':id')
  @Endpoint({
    operationId: 'revokePortalSession',
    summary: 'Revoke a portal session',
    description:
      'Within a second, every process rejects the session and its streams have ended. Revoking it again changes nothing while it is listed; after that it is not found.',
    tag,
    scope: 'portal:write',
    portal: 'refused',
    response: { status: 204, description: 'It is revoked.' },
    errors: [404],
  })
  revoke(@CurrentCaller() { fleetId }: Caller, @Param() { id }: PortalSessionPathDto): Promise<void> {
    return this.service.revoke(fleetId, id);
  }

  /** The console is where the API is: unless configured, at the address that the caller of the API uses. */
  private consoleUrl({ protocol, host }: Request): string {
    return this.config.http.publicUrl?.replace(/\/+$/, '') ?? `${protocol}://${host}`;
  }
}
