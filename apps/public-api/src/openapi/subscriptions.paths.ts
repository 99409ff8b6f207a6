import { PAYLOAD_FORMATS } from '@waypost/domain';
import { createBody, MAX_RATE_LIMIT_PER_SECOND, updateBody } from '../subscriptions/subscription-body.js';
import {
  bodySchema,
  idempotencyKey,
  ifMatch,
  ifNoneMatch,
  jsonBody,
  notModified,
  replayable,
  withTag,
} from './management.js';
import type { PathItem, Schema } from './openapi-types.js';
import { listLimit, pageState, subscriptionId as id } from './parameters.js';
import { errors, jsonResponse } from './responses.js';
import { arrayOf, dateTime, eventType, nextPageState, objectSchema, reference, text, uuid } from './schemas.js';

const auth: Schema = {
  oneOf: [
    objectSchema({ type: { type: 'string', const: 'none' } }),
    objectSchema({ type: { type: 'string', const: 'bearer' }, tokenUrl: text, clientId: text, scope: text }, ['scope']),
  ],
};

const fields = {
  id: uuid,
  fleetId: text,
  eventType,
  url: text,
  status: { type: 'string', enum: ['active', 'paused', 'disabled'] },
  disabledReason: { type: 'string', description: 'Why it was disabled; only while it is.' },
  payloadFormat: { type: 'string', enum: PAYLOAD_FORMATS },
  deviceIds: { ...arrayOf(text), description: 'Absent: every device.' },
  auth,
  rateLimitPerSecond: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_RATE_LIMIT_PER_SECOND,
    description: 'Absent: no limit.',
  },
  onOutage: { type: 'string', enum: ['fail', 'hold'] },
  strictOrder: { type: 'boolean' },
  createdAt: dateTime,
  updatedAt: dateTime,
};
const optional = ['disabledReason', 'deviceIds', 'rateLimitPerSecond'];

const secret: Schema = {
  type: 'string',
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  description: 'The signing secret. It is shown here and never again.',
};

export const subscriptionSchemas: Readonly<Record<string, Schema>> = {
  Subscription: objectSchema(fields, optional),
  SubscriptionWithSecret: objectSchema({ ...fields, secret }, optional),
  CreateSubscriptions: bodySchema(createBody),
  UpdateSubscription: bodySchema(updateBody),
  QueuedTest: objectSchema({ eventId: { ...uuid, description: 'The `eventId` in the event and in the history.' } }),
};

const created = objectSchema({ data: arrayOf(reference('SubscriptionWithSecret')) });
const listed = objectSchema({ data: arrayOf(reference('Subscription')), nextPageState });
const tags = ['Subscriptions'];

export const subscriptionPaths: Readonly<Record<string, PathItem>> = {
  '/public/v1/webhook-subscriptions': {
    post: {
      operationId: 'createSubscriptions',
      summary: 'Subscribe a URL to one or more event types',
      description:
        'Makes one subscription for each event type, all or none, in the order given. Once it has answered, every event from then on is delivered.',
      tags,
      parameters: [idempotencyKey],
      requestBody: jsonBody('CreateSubscriptions'),
      responses: {
        '201': replayable(jsonResponse('The subscriptions, with their signing secrets.', created)),
        ...errors(404, 409, 422),
      },
    },
    get: {
      operationId: 'listSubscriptions',
      summary: 'List subscriptions, oldest first',
      tags,
      parameters: [listLimit, pageState],
      responses: { '200': jsonResponse('A page of subscriptions.', listed), ...errors() },
    },
  },
  '/public/v1/webhook-subscriptions/{id}': {
    get: {
      operationId: 'getSubscription',
      summary: 'Read a subscription',
      tags,
      parameters: [id, ifNoneMatch],
      responses: {
        '200': withTag(jsonResponse('The subscription.', reference('Subscription'))),
        '304': notModified,
        ...errors(404),
      },
    },
    patch: {
      operationId: 'updateSubscription',
      summary: 'Change a subscription',
      description: 'Fields that are left out stay as they are; `auth` is replaced as a whole.',
      tags,
      parameters: [id, ifMatch],
      requestBody: jsonBody('UpdateSubscription'),
      responses: {
        '200': withTag(jsonResponse('The subscription as it is now.', reference('Subscription'))),
        ...errors(404, 409, 412),
      },
    },
    delete: {
      operationId: 'deleteSubscription',
      summary: 'Delete a subscription',
      tags,
      parameters: [id, ifMatch],
      responses: { '204': { description: 'It is gone.' }, ...errors(404, 412) },
    },
  },
  '/public/v1/webhook-subscriptions/{id}/rotate-secret': {
    post: {
      operationId: 'rotateSecret',
      summary: 'Replace the signing secret',
      description: 'The secret before it signs as well for 24 hours more.',
      tags,
      parameters: [id, ifMatch, idempotencyKey],
      responses: {
        '200': withTag(
          replayable(jsonResponse('The subscription with its new secret.', reference('SubscriptionWithSecret'))),
        ),
        ...errors(404, 409, 412, 422),
      },
    },
  },
  '/public/v1/webhook-subscriptions/{id}/test': {
    post: {
      operationId: 'sendTestEvent',
      summary: 'Send a test event',
      description:
        'Sends an event of type `test` to the subscription: signed, retried and kept in the history as any other. The device in it does not exist. Only an active subscription can be tested. While its endpoint is away and its deliveries are held, the test event waits with them.',
      tags,
      parameters: [id, idempotencyKey],
      responses: {
        '202': replayable(jsonResponse('The event will be sent.', reference('QueuedTest'))),
        ...errors(404, 409, 422),
      },
    },
  },
};
