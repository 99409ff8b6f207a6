/** SQL by hand: one statement per batch of any size, which TypeORM would send row by row. */
import type { PoolClient } from 'pg';
import { storableText } from '@waypost/database';
import { deliveryStatus, type WebhookAttempt, type WebhookDelivery } from '@waypost/domain';
import { hasNoAttempt } from './delivery-conditions.js';

const HAS_NO_ATTEMPT = hasNoAttempt('b', 'deliveries');

/** Returns the given deliveries without an attempt, as positions in the parameters from 1. */
export const FIND_WITHOUT_ATTEMPT = `
  SELECT b.position::integer AS position
    FROM unnest($1::uuid[], $2::integer[], $3::timestamptz[]) WITH ORDINALITY AS b (event_id, series, created_at, position)
   WHERE ${HAS_NO_ATTEMPT}`;

export function keyParameters(deliveries: readonly WebhookDelivery[]): unknown[] {
  return [
    deliveries.map(({ eventId }) => eventId),
    deliveries.map(({ series }) => series),
    deliveries.map(({ createdAt }) => iso(createdAt)),
  ];
}

/** Every batch of attempts takes this lock, so an attempt logged in the meantime waits for it. */
export const HOLD_ATTEMPTS = 'SELECT 1 FROM delivery_progress WHERE partition = $1 FOR UPDATE';

const NAMES =
  'event_id, series, created_at, event_time, fleet_id, device_id, subscription_id, event_type, format, replay_id, body';

export const INSERT_WAITING = `
  INSERT INTO waiting_deliveries (${NAMES})
  SELECT ${NAMES} FROM unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[],
    $7::text[], $8::text[], $9::text[], $10::text[], $11::text[]) AS b (${NAMES})
   WHERE ${HAS_NO_ATTEMPT}
  ON CONFLICT DO NOTHING`;

export function insertParameters(deliveries: readonly WebhookDelivery[]): unknown[] {
  const texts = (valueOf: (delivery: WebhookDelivery) => string): string[] =>
    deliveries.map((delivery) => storableText(valueOf(delivery)));
  return [
    ...keyParameters(deliveries),
    deliveries.map(({ eventTime }) => iso(eventTime)),
    texts(({ fleetId }) => fleetId),
    texts(({ deviceId }) => deviceId),
    texts(({ subscriptionId }) => subscriptionId),
    texts(({ eventType }) => eventType),
    texts(({ format }) => format),
    deliveries.map(({ replayId }) => (replayId === null ? null : storableText(replayId))),
    texts(({ body }) => body),
  ];
}

const DELETE_WAITING = `
  DELETE FROM waiting_deliveries AS w
   USING unnest($1::uuid[], $2::integer[], $3::timestamptz[]) AS b (event_id, series, created_at)
   WHERE w.event_id = b.event_id AND w.series = b.series AND w.created_at = b.created_at`;

/** A delivery stays listed until it ends, so that its place in a walk over the pending ones does not change. */
export async function forgetEnded(client: PoolClient, attempts: readonly WebhookAttempt[]): Promise<void> {
  const ended = attempts.filter(({ outcome }) => deliveryStatus(outcome) !== 'pending');
  if (ended.length === 0) return;
  await client.query({
    name: 'forget ended',
    text: DELETE_WAITING,
    values: [
      ended.map(({ eventId }) => eventId),
      ended.map(({ series }) => series),
      ended.map(({ deliveryCreatedAt }) => iso(deliveryCreatedAt)),
    ],
  });
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
