import { Inject, Injectable } from '@nestjs/common';
import { RETENTION_MS, type SubscriptionHealth, subscriptionHealth, suspensionOf } from '@waypost/domain';
import { SubscriptionActivities } from '@waypost/history-store';
import { OperationalEventStore, type SubscriptionRef } from '@waypost/management-store';
import { CLOCK } from '@waypost/platform';

/** The health of a subscription: how its deliveries go, from the history and from its operational events. */
@Injectable()
export class SubscriptionHealthReader {
  constructor(
    private readonly activities: SubscriptionActivities,
    private readonly events: OperationalEventStore,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  async read({ fleetId, id: subscriptionId }: SubscriptionRef): Promise<SubscriptionHealth> {
    const nowMs = this.now();
    // The clocks of the senders may be ahead of ours.
    const window = { startAt: nowMs - RETENTION_MS, endAt: nowMs + CLOCKS_MS };
    const [activity, newest] = await Promise.all([
      this.activities.read({ fleetId, subscriptionId, ...window }),
      this.events.newest({ fleetId, subscriptionId }),
    ]);
    return subscriptionHealth(activity, suspensionOf(newest));
  }
}

const CLOCKS_MS = 60_000;
