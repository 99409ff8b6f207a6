import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { createEgressClient, EgressClient } from '@waypost/egress';
import { CLOCK, CONFIG, MONOTONIC_CLOCK } from '@waypost/platform';
import type { WebhookDeliveryConfig } from '../config.js';
import type { TimerPort } from '../process/timers.js';
import { TIMERS, TimersModule } from '../process/timers.module.js';
import type { ReservationLimits } from '../shares/reservations.js';
import { SharedPermits } from '../shares/shared-permits.js';
import { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { AttemptRunner, createAttemptRunner } from './attempt-runner.js';
import { BearerTokens, type BearerTokensOptions, createBearerTokens, wantsToken } from './bearer-tokens.js';

/**
 * a delivery begins only if each of its attempts can have a socket on time, and a token request has one of its own.
 * Even if all of them want one, each origin still gets its limit, however they are spread (libs/egress).
 */
const SOCKETS = 10_240;
export const DELIVERIES_BEGUN: ReservationLimits = { total: 4_096, perOrigin: 512 };
/** A token endpoint may be shared with other fleets, or with the origin of their receivers. */
export const TOKEN_REQUESTS: ReservationLimits = { total: 512, perOrigin: 256 };
/**
 * Each lookup asks for both address families. Name servers answer a limited number of questions at a time (1,000 in
 * CoreDNS as Kubernetes sets it up), and names whose own servers are silent must not use up all of them.
 */
const LOOK_UPS = 256;
/** Above this an attempt waits for a connection while its deadline runs. */
const CONNECTIONS_PER_ORIGIN = DELIVERIES_BEGUN.perOrigin + TOKEN_REQUESTS.perOrigin;

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

type SealingConfig = Pick<WebhookDeliveryConfig, 'sealingKeys'>;

function createTokens(
  egress: EgressClient,
  directory: SubscriptionDirectory,
  { sealingKeys }: SealingConfig,
  nowMs: () => number,
  timers: TimerPort,
  monotonicMs: () => number,
): BearerTokens {
  const permits = new SharedPermits({ limits: TOKEN_REQUESTS, timers, monotonicMs });
  const fleetOf = (subscriptionId: string): string => directory.get(subscriptionId)?.fleetId ?? '';
  const isWanted: BearerTokensOptions['isWanted'] = (id, auth) => wantsToken(directory.get(id), auth);
  return createBearerTokens({ egress, permits, fleetOf, isWanted, sealingKeys, nowMs, monotonicMs });
}

function createRunner(
  directory: SubscriptionDirectory,
  egress: EgressClient,
  tokens: BearerTokens,
  { sealingKeys }: SealingConfig,
  monotonicMs: () => number,
): AttemptRunner {
  return createAttemptRunner({ directory, egress, tokens, sealingKeys, monotonicMs });
}

/** Makes one attempt: secrets, token, POST, result. `sender/` decides when, and what follows. */
@Module({
  imports: [EgressModule, TimersModule, SubscriptionsModule],
  providers: [
    {
      provide: BearerTokens,
      inject: [EgressClient, SubscriptionDirectory, CONFIG, CLOCK, TIMERS, MONOTONIC_CLOCK],
      useFactory: createTokens,
    },
    {
      provide: AttemptRunner,
      inject: [SubscriptionDirectory, EgressClient, BearerTokens, CONFIG, MONOTONIC_CLOCK],
      useFactory: createRunner,
    },
  ],
  exports: [AttemptRunner],
})
export class AttemptModule {}
