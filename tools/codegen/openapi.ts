import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import type { DiscoveryService } from '@nestjs/core';
import { HttpApiModule } from '../../apps/public-api/src/http-api.module.js';
import type { OpenApiDocument } from '../../apps/public-api/src/openapi/openapi.types.js';
import { OpenApi } from '../../apps/public-api/src/openapi/openapi-document.js';

export type Controller = Type & { readonly prototype: object };

export function apiControllers(): Controller[] {
  const modules = Reflect.getMetadata(MODULE_METADATA.IMPORTS, HttpApiModule) as Type[];
  return modules.flatMap((module) => (Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? []) as Controller[]);
}

/** Builds the OpenAPI document from the controllers, without starting them. */
export function openApiDocument(): OpenApiDocument {
  const discovery = { getControllers: () => apiControllers().map((metatype) => ({ metatype })) };
  return new OpenApi(discovery as unknown as DiscoveryService).document();
}
