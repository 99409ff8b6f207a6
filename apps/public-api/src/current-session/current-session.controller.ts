import { Controller, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import { identityOf } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { SessionDto } from './current-session.dto.js';
import { CurrentSessionService } from './current-session.service.js';

@Controller('/public/v1/session')
export class CurrentSessionController {
  constructor(private readonly service: CurrentSessionService) {}

  @Get()
  @Endpoint({
    operationId: 'getSession',
    summary: 'Read the identity and permissions of the caller',
    description: 'Available to every API key, portal session and admin key, whatever its scopes.',
    tag: 'Portal',
    scope: 'any',
    portal: 'filtered',
    response: { status: 200, description: 'The caller.', type: SessionDto },
  })
  read(@Req() request: Request): Promise<SessionDto> {
    return this.service.describe(identityOf(request));
  }
}
