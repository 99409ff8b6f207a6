import { Injectable, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService } from '@nestjs/core';
import { endpointOf, type Tag } from '../endpoint/endpoint.decorator.js';
import { handlerParameters } from '../endpoint/handler-parameters.js';
import type { RouteMethods } from '../http/route-table.middleware.js';
import type { DocumentedMethod, OpenApiDocument, Operation, PathItem } from './openapi.types.js';
import { createSchemaCollector, describeOperation, type SchemaCollector } from './operation.js';
import { ERROR_RESPONSES, errorSchema } from './responses.js';
import { webhookComponents, webhookOperations } from './webhooks.js';

const TAGS: readonly { readonly name: Tag; readonly description?: string }[] = [
  { name: 'History', description: 'Deliveries, their times, and the responses to them.' },
  { name: 'Paths', description: 'The paths of devices.' },
  { name: 'Subscriptions', description: 'Event types and the URLs they are delivered to.' },
  { name: 'Geofences', description: 'Areas that produce an event when a device enters or leaves.' },
  { name: 'Fleet', description: 'The fleet of the API key, and its API keys.' },
  { name: 'Portal', description: 'The console for the customers of a platform.' },
  { name: 'Operators', description: 'Endpoints for operators, across all fleets; they require an admin key.' },
  { name: 'Description' },
];

/** In the order of the `Allow` header. */
const METHODS: readonly DocumentedMethod[] = ['get', 'put', 'post', 'delete', 'patch'];

interface Controller {
  readonly name: string;
  readonly prototype: object;
}

/** The whole API as OpenAPI 3.1, generated from the handlers that this application has. */
@Injectable()
export class OpenApi {
  private built: OpenApiDocument | null = null;

  constructor(private readonly discovery: DiscoveryService) {}

  document(): OpenApiDocument {
    return (this.built ??= this.build());
  }

  /** The methods of each path, in upper case. */
  routes(): RouteMethods {
    const routes = Object.entries(this.document().paths).map(([path, item]) => [
      path,
      METHODS.filter((method) => item[method] !== undefined).map((method) => method.toUpperCase()),
    ]);
    return Object.fromEntries(routes) as RouteMethods;
  }

  /** The paths that may answer 304. */
  conditionalPaths(): string[] {
    return Object.entries(this.document().paths)
      .filter(([, item]) => item.get?.responses['304'] !== undefined)
      .map(([path]) => path);
  }

  private build(): OpenApiDocument {
    const collector = createSchemaCollector();
    const error = collector.describe(errorSchema, 'service');
    const paths: Record<string, PathItem> = {};
    for (const { path, method, operation } of this.operations(collector)) {
      paths[path] = { ...paths[path], [method]: operation };
    }
    return {
      openapi: '3.1.0',
      info: {
        title: 'Waypost public API',
        version: '1.0.0',
        description:
          'Webhook subscriptions of a fleet and the history of their deliveries. Objects in responses and webhooks may gain fields, and their enumerations (`x-extensible-enum`) may gain values: accept unknown ones.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: TAGS,
      security: [{ apiKey: [] }, { adminKey: [] }],
      paths,
      webhooks: webhookOperations(),
      components: {
        securitySchemes: {
          adminKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'wpa_...',
            description:
              'The key of an operator. With the header `X-Waypost-Fleet` it is accepted wherever an API key is, and acts for that fleet with every scope.',
          },
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'wp_...',
            description: 'An API key of one fleet, or the token of a portal session (`wps_...`).',
          },
        },
        schemas: { Error: error, ...collector.components, ...webhookComponents() },
        responses: Object.fromEntries(
          Object.entries(ERROR_RESPONSES).map(([status, response]) => [`Error${status}`, response]),
        ),
      },
    };
  }

  private operations(collector: SchemaCollector) {
    return this.discovery.getControllers().flatMap(({ metatype }) => {
      const controller = metatype as Controller;
      return handlersOf(controller).map(({ name, handler, path, method }) => {
        const parameters = handlerParameters(controller, name);
        const operation: Operation = describeOperation(endpointOf(handler), parameters, method, collector);
        return { path, method, operation };
      });
    });
  }
}

function handlersOf(controller: Controller) {
  const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler: unknown = Reflect.get(controller.prototype, name);
    if (typeof handler !== 'function') return [];
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
    if (method === undefined) return [];
    const own = Reflect.getMetadata(PATH_METADATA, handler) as string;
    const route = own === '/' ? base : `${base}/${own}`;
    const path = route.replaceAll(/:(\w+)/g, '{$1}');
    return [{ name, handler, path, method: RequestMethod[method].toLowerCase() as DocumentedMethod }];
  });
}
