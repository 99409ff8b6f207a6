import type { PlantedBug } from './planted-bug.js';

const SENDER = 'apps/webhook-delivery/src/sender';
const DELIVERY_RULES = 'libs/domain/src/delivery';

/** Of subscriptions that hold through an outage. */
export const OUTAGE_BUGS: readonly Omit<PlantedBug, 'suite'>[] = [
  {
    name: 'a subscription is suspended after half of the time',
    file: `${DELIVERY_RULES}/outage-policy.ts`,
    is: 'failingForMs >= SUSPEND_AFTER_MS',
    becomes: 'failingForMs >= SUSPEND_AFTER_MS / 2',
  },
  {
    name: 'probes come three times as often',
    file: `${SENDER}/holds/outage.ts`,
    is: 'this.options.timers.after(delayMs,',
    becomes: 'this.options.timers.after(delayMs / 3,',
  },
  {
    name: 'a probe that fails ends its delivery',
    file: `${DELIVERY_RULES}/decide-attempt.ts`,
    is: 'decideAttempt({ ...probe, attempt: 1 })',
    becomes: 'decideAttempt({ ...probe, attempt: 5 })',
  },
  {
    name: 'a probe counts among the attempts',
    file: `${SENDER}/attempts/attempt-record.ts`,
    is: '(before?.probes ?? 0) + (isProbe ? 1 : 0)',
    becomes: 'before?.probes ?? 0',
  },
  {
    name: 'a suspension holds nothing back',
    file: `${SENDER}/backlogs/subscription-backlog.ts`,
    is: 'return this.isPaused || this.isSuspended;',
    becomes: 'return this.isPaused;',
  },
  {
    name: 'a takeover forgets that a subscription is suspended',
    file: `${SENDER}/sender.task.ts`,
    is: 'backlog.health = { failingSince, suspendedAt, failedDays };',
    becomes: 'backlog.health = { failingSince, suspendedAt: null, failedDays };',
  },
];
