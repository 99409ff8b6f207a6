import type { OpenApiDocument } from './openapi-types.js';
import { operationPaths, operationSchemas } from './operations.paths.js';
import { replayPaths, replaySchemas } from './replays.paths.js';
import { ERROR_RESPONSES, errorSchema, jsonResponse } from './responses.js';
import { subscriptionPaths, subscriptionSchemas } from './subscriptions.paths.js';
import { v1Paths, v1Schemas } from './v1-history.paths.js';
import { v2Paths, v2Schemas } from './v2-events.paths.js';

/** The whole API as OpenAPI 3.1; a test holds it and the running application against each other. */
export const openApiDocument: OpenApiDocument = {
  openapi: '3.1.0',
  info: {
    title: 'Waypost public API',
    version: '1.0.0',
    description: 'Webhook subscriptions of a fleet and the history of what was delivered to them.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  tags: [
    { name: 'History', description: 'What was delivered, when, and what came back.' },
    { name: 'Subscriptions', description: 'What is delivered, and where to.' },
    { name: 'Description' },
  ],
  security: [{ apiKey: [] }],
  paths: {
    ...v1Paths,
    ...v2Paths,
    ...subscriptionPaths,
    ...operationPaths,
    ...replayPaths,
    '/public/openapi.json': {
      get: {
        operationId: 'getOpenApi',
        summary: 'This document',
        tags: ['Description'],
        security: [],
        responses: { '200': jsonResponse('OpenAPI 3.1.', { type: 'object' }) },
      },
    },
  },
  components: {
    securitySchemes: {
      apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'wp_...', description: 'An API key of one fleet.' },
    },
    schemas: {
      Error: errorSchema,
      ...v1Schemas,
      ...v2Schemas,
      ...subscriptionSchemas,
      ...operationSchemas,
      ...replaySchemas,
    },
    responses: Object.fromEntries(
      Object.entries(ERROR_RESPONSES).map(([status, response]) => [`Error${status}`, response]),
    ),
  },
};
