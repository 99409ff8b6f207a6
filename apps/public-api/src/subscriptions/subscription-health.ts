import { Inject, Injectable } from '@nestjs/common';
import {
  CLOCK_TOLERANCE_MS,
  RETENTION_MS,
  type SubscriptionHealth,
  subscriptionHealth,
  type Suspension,
  suspensionOf,
} from '@waypost/domain';
import { SubscriptionActivities } from '@waypost/history-store';
import { OperationalEventStore, type SubscriptionRef } from '@waypost/management-store';
import { CLOCK } from '@waypost/platform';

/** The health of a subscription: how its deliveries go, from the history and from its operational events. */
@Injectable()
export class SubscriptionHealthReader {
  constructor(
    private readonly activities: SubscriptionActivities,
    private readonly events: OperationalEventStore,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  async read({ fleetId, id: subscriptionId }: SubscriptionRef): Promise<SubscriptionHealth> {
    const nowMs = this.nowMs();
    const window = { startAt: nowMs - RETENTION_MS, endAt: nowMs + CLOCK_TOLERANCE_MS.senderAndApi };
    const [activity, [suspension = NOT_SUSPENDED]] = await Promise.all([
      this.activities.read({ fleetId, subscriptionId, ...window }),
      this.readSuspensions(fleetId, [subscriptionId]),
    ]);
    return subscriptionHealth(activity, suspension);
  }

  /** The part of the health that costs little, in the order of the subscriptions. */
  async readSuspensions(fleetId: string, subscriptionIds: readonly string[]): Promise<readonly Suspension[]> {
    if (subscriptionIds.length === 0) return [];
    return (await this.events.newest(fleetId, subscriptionIds)).map(suspensionOf);
  }
}

const NOT_SUSPENDED: Suspension = { isSuspended: false, since: null };
