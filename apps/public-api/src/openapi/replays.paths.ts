import { replayBody } from '../replays/replay-body.js';
import { REPLAY_STATES } from '../replays/replay-resource.js';
import { bodySchema, idempotencyKey, replayable } from './management.js';
import type { Parameter, PathItem, Schema } from './openapi-types.js';
import { listLimit, pageState, subscriptionId } from './parameters.js';
import { errors, jsonResponse } from './responses.js';
import { arrayOf, dateTime, eventType, nextPageState, objectSchema, reference, text, uuid } from './schemas.js';

const STATES = `- \`pending\`: nobody has begun.
- \`running\`: deliveries are selected, then made. It waits while the subscription is not active.
- \`cancelling\`: a cancel was asked for.
- \`completed\`: all that matched was made, and is sent like any other delivery.
- \`cancelled\`: no more is made: it was cancelled, or the subscription deleted.`;

const count: Schema = { type: 'integer', minimum: 0 };

const progress = objectSchema(
  {
    matched: { ...count, description: 'Deliveries that are to be sent again; absent until they are counted.' },
    sent: { ...count, description: 'Of these, how many were handed to the sender.' },
  },
  ['matched'],
);

export const replaySchemas: Readonly<Record<string, Schema>> = {
  CreateReplay: bodySchema(replayBody),
  Replay: objectSchema(
    {
      replayId: uuid,
      subscriptionId: uuid,
      series: { type: 'integer', minimum: 1, description: 'The n-th replay of the subscription.' },
      state: { type: 'string', enum: REPLAY_STATES, description: STATES },
      startDate: { ...dateTime, description: 'As it is used: clamped to the retention of 15 days.' },
      endDate: dateTime,
      status: { type: 'string', enum: ['delivered', 'failed', 'pending'] },
      eventType,
      deviceId: text,
      ratePerSecond: { type: 'integer', minimum: 1 },
      progress,
      createdAt: dateTime,
      startedAt: { ...dateTime, description: 'Absent while pending.' },
      endedAt: { ...dateTime, description: 'Absent until it is completed or cancelled.' },
    },
    ['status', 'eventType', 'deviceId', 'startedAt', 'endedAt'],
  ),
};

const replayId: Parameter = {
  name: 'replayId',
  in: 'path',
  required: true,
  description: 'Of the replay.',
  schema: uuid,
};
const page = objectSchema({ data: arrayOf(reference('Replay')), nextPageState });
const tags = ['Subscriptions'];
const PATH = '/public/v1/webhook-subscriptions/{id}/replays';

export const replayPaths: Readonly<Record<string, PathItem>> = {
  [PATH]: {
    post: {
      operationId: 'createReplay',
      summary: 'Send deliveries again',
      description:
        'Sends every delivery of the subscription again whose first attempt lies in the window: same `eventId`, same bytes, in the order in which they were made first. Attempts are recorded as deliveries of their own in the history. What earlier replays and tests sent is not sent again. At most 3 replays of a subscription may be unfinished; they are worked off one after the other.',
      tags,
      parameters: [subscriptionId, idempotencyKey],
      requestBody: { required: true, content: { 'application/json': { schema: reference('CreateReplay') } } },
      responses: {
        '202': replayable(jsonResponse('The replay, as it begins.', reference('Replay'))),
        ...errors(404, 409, 422),
      },
    },
    get: {
      operationId: 'listReplays',
      summary: 'List the replays of a subscription, newest first',
      description: 'Kept for 16 days.',
      tags,
      parameters: [subscriptionId, listLimit, pageState],
      responses: { '200': jsonResponse('A page of replays.', page), ...errors(404) },
    },
  },
  [`${PATH}/{replayId}`]: {
    get: {
      operationId: 'getReplay',
      summary: 'Read a replay and its progress',
      tags,
      parameters: [subscriptionId, replayId],
      responses: { '200': jsonResponse('The replay.', reference('Replay')), ...errors(404) },
    },
  },
  [`${PATH}/{replayId}/cancel`]: {
    post: {
      operationId: 'cancelReplay',
      summary: 'Cancel a replay',
      description:
        'No more deliveries are made; those that were made already are still sent. Cancelling again, or when it is over, changes nothing.',
      tags,
      parameters: [subscriptionId, replayId],
      responses: { '200': jsonResponse('The replay as it is now.', reference('Replay')), ...errors(404) },
    },
  },
};
