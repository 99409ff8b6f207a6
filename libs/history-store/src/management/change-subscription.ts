import type { WebhookSubscription } from '@waypost/domain';
import type { DataSource } from 'typeorm';
import { lockSubscription } from './lock-subscription.js';
import { appendToOutbox } from './outbox.js';
import { rotateSecrets } from './rotate-secrets.js';
import { sqlState, UNIQUE_VIOLATION } from './sql-state.js';
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
}

export async function updateSubscription(
  dataSource: DataSource,
  { ref, change, nowMs }: SubscriptionUpdate,
): Promise<ChangeSubscriptionResult> {
  try {
    return await dataSource.transaction(async (manager): Promise<ChangeSubscriptionResult> => {
      const current = await lockSubscription(manager, ref);
      if (current === null) return { type: 'not_found' };
      if (changesNothing(current, change)) return { type: 'unchanged', subscription: current };
      // Whoever switches a disabled subscription on or off again has seen why it was disabled.
      const reason = change.status === undefined ? {} : { disabledReason: null };
      return { type: 'changed', ...(await saveNextVersion(manager, { ...current, ...change, ...reason }, nowMs)) };
    });
  } catch (error) {
    if (sqlState(error) === UNIQUE_VIOLATION) return { type: 'conflict' };
    throw error;
  }
}

export function rotateSubscriptionSecret(
  dataSource: DataSource,
  ref: SubscriptionRef,
  rotation: SecretRotation,
): Promise<RotateSecretResult> {
  return dataSource.transaction(async (manager): Promise<RotateSecretResult> => {
    const current = await lockSubscription(manager, ref);
    if (current === null) return { type: 'not_found' };
    const rotated = rotateSecrets(current.secrets, rotation);
    if (rotated.type === 'too_many_secrets') return rotated;
    const changed = { ...current, secrets: rotated.secrets };
    return { type: 'changed', ...(await saveNextVersion(manager, changed, rotation.nowMs)) };
  });
}

export function deleteSubscription(
  dataSource: DataSource,
  ref: SubscriptionRef,
  nowMs: number,
): Promise<DeleteSubscriptionResult> {
  return dataSource.transaction(async (manager): Promise<DeleteSubscriptionResult> => {
    if ((await lockSubscription(manager, ref)) === null) return { type: 'not_found' };
    await manager.delete(WebhookSubscriptionEntity, { id: ref.id });
    const tombstone = { kind: 'webhook-subscription', key: ref.id, value: null } as const;
    return { type: 'deleted', outboxIds: await appendToOutbox(manager, [tombstone], nowMs) };
  });
}

function changesNothing(current: WebhookSubscription, change: SubscriptionChange): boolean {
  return Object.entries(change).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(current[field as keyof WebhookSubscription]),
  );
}
