import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { OpenApiController } from './openapi.controller.js';
import { OpenApi } from './openapi-document.js';

@Module({ imports: [DiscoveryModule], controllers: [OpenApiController], providers: [OpenApi], exports: [OpenApi] })
export class OpenApiModule {}
