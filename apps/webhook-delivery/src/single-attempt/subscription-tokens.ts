import { Inject, Injectable } from '@nestjs/common';
import { EgressClient } from '@waypost/egress';
import { CLOCK, CONFIG, MONOTONIC_CLOCK } from '@waypost/platform';
import type { WebhookDeliveryConfig } from '../config.js';
import type { TimerPort } from '../process/timers.js';
import { TIMERS } from '../process/timers.module.js';
import { SharedPermits } from '../shares/shared-permits.js';
import { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { TOKEN_REQUESTS } from './attempt-limits.js';
import { ClientCredentialsTokens, wantsToken } from './bearer-tokens.js';

/** The tokens of the subscriptions that this process follows. */
@Injectable()
export class SubscriptionTokens extends ClientCredentialsTokens {
  constructor(
    egress: EgressClient,
    directory: SubscriptionDirectory,
    @Inject(CONFIG) { sealingKeys }: Pick<WebhookDeliveryConfig, 'sealingKeys'>,
    @Inject(CLOCK) nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) monotonicMs: () => number,
    @Inject(TIMERS) timers: TimerPort,
  ) {
    super({
      egress,
      permits: new SharedPermits({ limits: TOKEN_REQUESTS, timers, monotonicMs }),
      fleetOf: (subscriptionId) => directory.get(subscriptionId)?.fleetId ?? '',
      isWanted: (subscriptionId, auth) => wantsToken(directory.get(subscriptionId), auth),
      sealingKeys,
      nowMs,
      monotonicMs,
    });
  }
}
