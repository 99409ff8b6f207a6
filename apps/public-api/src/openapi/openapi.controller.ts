import { Controller, Get } from '@nestjs/common';
import { openApiDocument } from './document.js';

/** The API's own description, for anyone. */
@Controller('/public/openapi.json')
export class OpenApiController {
  @Get()
  read(): object {
    return openApiDocument;
  }
}
