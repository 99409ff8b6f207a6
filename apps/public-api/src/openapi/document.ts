import type { OpenApiDocument } from './openapi-types.js';
import { apiKeyPaths, apiKeySchemas } from './api-keys.paths.js';
import { fleetPaths, fleetSchemas } from './fleet.paths.js';
import { geofencePaths, geofenceSchemas } from './geofences.paths.js';
import { pathPaths, pathSchemas } from './paths.paths.js';
import { operationPaths, operationSchemas } from './operations.paths.js';
import { replayPaths, replaySchemas } from './replays.paths.js';
import { ERROR_RESPONSES, errorSchema, jsonResponse, openErrors } from './responses.js';
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
    { name: 'Paths', description: 'Where the devices were.' },
    { name: 'Subscriptions', description: 'What is delivered, and where to.' },
    { name: 'Geofences', description: 'Places whose coming and going is told.' },
    { name: 'Fleet', description: 'The fleet of the API key, and its keys.' },
    { name: 'Description' },
  ],
  security: [{ apiKey: [] }],
  paths: {
    ...v1Paths,
    ...v2Paths,
    ...pathPaths,
    ...subscriptionPaths,
    ...operationPaths,
    ...replayPaths,
    ...geofencePaths,
    ...fleetPaths,
    ...apiKeyPaths,
    '/public/openapi.json': {
      get: {
        operationId: 'getOpenApi',
        summary: 'This document',
        tags: ['Description'],
        security: [],
        responses: { '200': jsonResponse('OpenAPI 3.1.', { type: 'object' }), ...openErrors() },
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
      ...pathSchemas,
      ...subscriptionSchemas,
      ...operationSchemas,
      ...replaySchemas,
      ...geofenceSchemas,
      ...fleetSchemas,
      ...apiKeySchemas,
    },
    responses: Object.fromEntries(
      Object.entries(ERROR_RESPONSES).map(([status, response]) => [`Error${status}`, response]),
    ),
  },
};
