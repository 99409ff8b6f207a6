import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { createEgressClient, type EgressClient } from '@waypost/egress';
import { CLOCK, CONFIG, type EgressConfig, MONOTONIC_CLOCK } from '@waypost/platform';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { SUBSCRIPTION_DIRECTORY, SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { type AttemptRunner, createAttemptRunner } from './attempt-runner.js';
import { type BearerTokens, createBearerTokens } from './bearer-tokens.js';

/** EgressClient */
export const EGRESS_CLIENT = Symbol('EGRESS_CLIENT');
/** Above what the scheduler reserves for an origin an attempt would wait for a connection while its deadline runs. */
export const CONNECTIONS_PER_ORIGIN = 512;

/** BearerTokens */
const BEARER_TOKENS = Symbol('BEARER_TOKENS');
/** AttemptRunner */
export const ATTEMPT_RUNNER = Symbol('ATTEMPT_RUNNER');

/** The HTTP client goes down after the consumers, whose attempts in flight need it to the end. */
@Module({
  providers: [
    {
      provide: EGRESS_CLIENT,
      inject: [CONFIG],
      useFactory: ({ egress }: { readonly egress: EgressConfig }) =>
        createEgressClient({ ...egress, connectionsPerOrigin: CONNECTIONS_PER_ORIGIN }),
    },
  ],
  exports: [EGRESS_CLIENT],
})
export class EgressModule implements OnApplicationShutdown {
  constructor(@Inject(EGRESS_CLIENT) private readonly egress: EgressClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.egress.close();
  }
}

interface SealingConfig {
  readonly sealingKeys: readonly Buffer[];
}

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

@Module({
  imports: [EgressModule, SubscriptionsModule],
  providers: [
    { provide: BEARER_TOKENS, inject: [EGRESS_CLIENT, CONFIG, CLOCK, MONOTONIC_CLOCK], useFactory: tokensOf },
    {
      provide: ATTEMPT_RUNNER,
      inject: [SUBSCRIPTION_DIRECTORY, EGRESS_CLIENT, BEARER_TOKENS, CONFIG, MONOTONIC_CLOCK],
      useFactory: attemptRunnerOf,
    },
  ],
  exports: [ATTEMPT_RUNNER],
})
export class AttemptModule {}
