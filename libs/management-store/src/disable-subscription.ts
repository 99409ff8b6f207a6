import { mayDisable, type OperationalEvent } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import { lockSubscription } from './lock-subscription.js';
import type { DisableSubscriptionResult } from './subscription-store.js';
import { saveNextVersion } from './subscription-versions.js';
import { storableText } from '@waypost/database';

/** Disables a subscription whose deliveries only fail, unless its owner has changed it since. May be repeated. */
export function disableSubscription(
  database: EntityManager,
  event: OperationalEvent,
  nowMs: number,
): Promise<DisableSubscriptionResult> {
  const { subscriptionId: id, fleetId, reason } = event;
  return database.transaction(async (manager): Promise<DisableSubscriptionResult> => {
    const current = await lockSubscription(manager, { fleetId, id });
    if (current === null) return { type: 'not_found' };
    if (!mayDisable(current, event)) return { type: 'unchanged', subscription: current };
    const disabled = { ...current, status: 'disabled', disabledReason: storableText(reason) };
    return { type: 'changed', ...(await saveNextVersion(manager, disabled, nowMs)) };
  });
}
