import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { createEgressClient, EgressClient } from '@waypost/egress';
import { CLOCK, CONFIG, MONOTONIC_CLOCK } from '@waypost/platform';
import type { WebhookDeliveryConfig } from '../config.js';
import { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { AttemptRunner, createAttemptRunner } from './attempt-runner.js';
import { BearerTokens, createBearerTokens } from './bearer-tokens.js';

/** Of all origins. */
export const SOCKETS = 8_192;
/** Above what the scheduler reserves for an origin an attempt would wait for a connection while its deadline runs. */
export const CONNECTIONS_PER_ORIGIN = SOCKETS / 16;

/** The HTTP client goes down after the consumers, whose attempts in flight need it to the end. */
@Module({
  providers: [
    {
      provide: EgressClient,
      inject: [CONFIG],
      useFactory: ({ egress }: Pick<WebhookDeliveryConfig, 'egress'>) =>
        createEgressClient({ ...egress, connectionsPerOrigin: CONNECTIONS_PER_ORIGIN, maxSockets: SOCKETS }),
    },
  ],
  exports: [EgressClient],
})
export class EgressModule implements OnApplicationShutdown {
  constructor(private readonly egress: EgressClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.egress.close();
  }
}

type SealingConfig = Pick<WebhookDeliveryConfig, 'sealingKeys'>;

function tokensOf(
  egress: EgressClient,
  { sealingKeys }: SealingConfig,
  nowMs: () => number,
  monotonicMs: () => number,
): BearerTokens {
  return createBearerTokens({ egress, sealingKeys, nowMs, monotonicMs });
}

function attemptRunnerOf(
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
  imports: [EgressModule, SubscriptionsModule],
  providers: [
    { provide: BearerTokens, inject: [EgressClient, CONFIG, CLOCK, MONOTONIC_CLOCK], useFactory: tokensOf },
    {
      provide: AttemptRunner,
      inject: [SubscriptionDirectory, EgressClient, BearerTokens, CONFIG, MONOTONIC_CLOCK],
      useFactory: attemptRunnerOf,
    },
  ],
  exports: [AttemptRunner],
})
export class AttemptModule {}
