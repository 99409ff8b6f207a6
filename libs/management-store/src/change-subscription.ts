import type { WebhookSubscription } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import { type ExpectedVersions, isExpected } from './expected-versions.js';
import { lockSubscription } from './lock-subscription.js';
import { appendToOutbox } from './outbox.js';
import { rotateSecrets } from './rotate-secrets.js';
import { sqlState, UNIQUE_VIOLATION } from '@waypost/database';
import type { SubscriptionChange } from './subscription.js';
import type {
  ChangeSubscriptionResult,
  DeleteSubscriptionResult,
  RotateSecretResult,
  SecretRotation,
  SubscriptionRef,
} from './subscription-store.js';
import { saveNextVersion } from './subscription-versions.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

export interface SubscriptionUpdate {
  readonly ref: SubscriptionRef;
  readonly change: SubscriptionChange;
  readonly nowMs: number;
  readonly expected: ExpectedVersions;
}

export async function updateSubscription(
  database: EntityManager,
  { ref, change, nowMs, expected }: SubscriptionUpdate,
): Promise<ChangeSubscriptionResult> {
  try {
    return await database.transaction(async (manager): Promise<ChangeSubscriptionResult> => {
      const current = await lockSubscription(manager, ref);
      if (current === null) return { type: 'not_found' };
      if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
      if (changesNothing(current, change)) return { type: 'unchanged', subscription: current };
      // Whoever switches a disabled subscription on or off again has seen why it was disabled.
      const reason = change.status === undefined ? {} : { disabledReason: null };
      return { type: 'changed', ...(await saveNextVersion(manager, { ...current, ...change, ...reason }, nowMs)) };
    });
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    return { type: 'conflict', id: await idOfRival(database, ref, change) };
  }
}

export function rotateSubscriptionSecret(
  database: EntityManager,
  ref: SubscriptionRef,
  rotation: SecretRotation,
  expected: ExpectedVersions,
): Promise<RotateSecretResult> {
  return database.transaction(async (manager): Promise<RotateSecretResult> => {
    const current = await lockSubscription(manager, ref);
    if (current === null) return { type: 'not_found' };
    if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
    const rotated = rotateSecrets(current.secrets, rotation);
    if (rotated.type === 'too_many_secrets') return rotated;
    const changed = { ...current, secrets: rotated.secrets };
    return { type: 'changed', ...(await saveNextVersion(manager, changed, rotation.nowMs)) };
  });
}

export function deleteSubscription(
  database: EntityManager,
  ref: SubscriptionRef,
  nowMs: number,
  expected: ExpectedVersions,
): Promise<DeleteSubscriptionResult> {
  return database.transaction(async (manager): Promise<DeleteSubscriptionResult> => {
    const current = await lockSubscription(manager, ref);
    if (current === null) return { type: 'not_found' };
    if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
    await manager.delete(WebhookSubscriptionEntity, { id: ref.id });
    const tombstone = { kind: 'webhook-subscription', key: ref.id, value: null } as const;
    return { type: 'deleted', outboxIds: await appendToOutbox(manager, [tombstone], nowMs) };
  });
}

/** The subscription that has the type and the URL already; null when it has gone since. */
async function idOfRival(
  database: EntityManager,
  { fleetId, id }: SubscriptionRef,
  { url }: SubscriptionChange,
): Promise<string | null> {
  if (url === undefined) return null;
  const changing = await database.findOneBy(WebhookSubscriptionEntity, { fleetId, id });
  if (changing === null) return null;
  const { eventType } = changing;
  const rival = await database.findOneBy(WebhookSubscriptionEntity, { fleetId, eventType, url });
  return rival?.id ?? null;
}

function changesNothing(current: WebhookSubscription, change: SubscriptionChange): boolean {
  return Object.entries(change).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(current[field as keyof WebhookSubscription]),
  );
}
