import type { PathItem, Schema } from './openapi-types.js';
import { listLimit, pageState, subscriptionId } from './parameters.js';
import { errors, jsonResponse } from './responses.js';
import { arrayOf, dateTime, nextPageState, objectSchema, reference, statusCode, text, uuid } from './schemas.js';

const TYPES = `What happened:
- \`exhausted\`: a delivery has failed for good; \`eventId\` says which.
- \`suspended\`: nothing but failures for 5 minutes; deliveries are held from now on (\`onOutage: hold\`).
- \`probed\`: a held delivery was tried, and failed.
- \`resumed\`: a probe was accepted; what was held goes out, in order.
- \`disabled\`: nothing but failures for 7 days. No new deliveries are made until \`status\` is set to \`active\`.`;

export const operationSchemas: Readonly<Record<string, Schema>> = {
  Operation: objectSchema(
    {
      id: uuid,
      type: { ...text, description: TYPES, examples: ['exhausted', 'suspended', 'probed', 'resumed', 'disabled'] },
      occurredAt: dateTime,
      reason: { ...text, description: 'In words, for people.' },
      eventId: { ...uuid, description: 'The delivery that it is about, as in the history.' },
      statusCode: { ...statusCode, description: 'Of the last attempt, or of the probe.' },
      error: { ...text, description: 'Why there was no status code, for example timeout.' },
    },
    ['eventId', 'statusCode', 'error'],
  ),
};

const page = objectSchema({ data: arrayOf(reference('Operation')), nextPageState });

export const operationPaths: Readonly<Record<string, PathItem>> = {
  '/public/v1/webhook-subscriptions/{id}/operations': {
    get: {
      operationId: 'listSubscriptionOperations',
      summary: 'What happened to the deliveries of a subscription, newest first',
      description:
        'Failures for good, outages and their ends. Kept for 15 days, at most the newest 500 of each type; they appear within seconds.',
      tags: ['Subscriptions'],
      parameters: [subscriptionId, listLimit, pageState],
      responses: { '200': jsonResponse('A page of operational events.', page), ...errors(404) },
    },
  },
};
