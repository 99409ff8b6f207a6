import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { createEgressClient, EgressClient } from '@waypost/egress';
import { CONFIG, MONOTONIC_CLOCK } from '@waypost/platform';
import type { WebhookDeliveryConfig } from '../config.js';
import type { TimerPort } from '../process/timers.js';
import { TIMERS, TimersModule } from '../process/timers.module.js';
import { SharedPermits } from '../shares/shared-permits.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { CONNECTIONS_PER_ORIGIN, LOOK_UPS, SOCKETS } from './attempt-limits.js';
import { AttemptRunner, SignedPosts } from './attempt-runner.js';
import { BearerTokens } from './bearer-tokens.js';
import { SubscriptionTokens } from './subscription-tokens.js';

function createEgress(
  { egress }: Pick<WebhookDeliveryConfig, 'egress'>,
  timers: TimerPort,
  monotonicMs: () => number,
): EgressClient {
  const limits = { total: LOOK_UPS, perOrigin: LOOK_UPS };
  const lookUps = new SharedPermits({ limits, timers, monotonicMs });
  return createEgressClient({ ...egress, connectionsPerOrigin: CONNECTIONS_PER_ORIGIN, maxSockets: SOCKETS, lookUps });
}

/** Close after the consumers, whose attempts in flight need them to the end. */
@Injectable()
class EgressConnections implements OnApplicationShutdown {
  constructor(private readonly egress: EgressClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.egress.close();
  }
}

@Module({
  imports: [TimersModule],
  providers: [
    { provide: EgressClient, inject: [CONFIG, TIMERS, MONOTONIC_CLOCK], useFactory: createEgress },
    EgressConnections,
  ],
  exports: [EgressClient],
})
export class EgressModule {}

/** Makes one attempt: secrets, token, POST, result. `sender/` decides when, and what follows. */
@Module({
  imports: [EgressModule, TimersModule, SubscriptionsModule],
  providers: [
    { provide: BearerTokens, useClass: SubscriptionTokens },
    { provide: AttemptRunner, useClass: SignedPosts },
  ],
  exports: [AttemptRunner],
})
export class AttemptModule {}
