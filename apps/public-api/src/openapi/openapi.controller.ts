import { Controller, Get } from '@nestjs/common';
import { z } from 'zod';
import { dto } from '../endpoint/dto.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { OpenApi } from './openapi-document.js';

class OpenApiDto extends dto(z.looseObject({})) {}

/** The API's own description, for anyone. */
@Controller('/public/openapi.json')
export class OpenApiController {
  constructor(private readonly openApi: OpenApi) {}

  @Get()
  @Endpoint({
    operationId: 'getOpenApi',
    summary: 'This document',
    tag: 'Description',
    scope: null,
    response: { status: 200, description: 'OpenAPI 3.1.', type: OpenApiDto },
  })
  read(): object {
    return this.openApi.document();
  }
}
