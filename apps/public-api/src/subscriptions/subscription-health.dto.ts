import { z } from 'zod';
import {
  formatTime,
  HEALTH_STATUSES,
  MAX_COUNTED_PENDING,
  RETENTION_DAYS,
  type SubscriptionHealth,
} from '@waypost/domain';
import { dateTime, enumText } from '../endpoint/fields.js';

/** The health of a subscription: how its deliveries go. */
export const health = z
  .strictObject({
    status: enumText(HEALTH_STATUSES).meta({
      description: `\`suspended\`: deliveries are held until a probe is accepted (\`onOutage: hold\`). \`failing\`: no delivery started since the last success was accepted. \`healthy\`: neither. \`unknown\`: nothing was attempted in the last ${String(RETENTION_DAYS)} days.`,
    }),
    failingSince: dateTime.optional().meta({
      description: `First attempt of the oldest delivery that was started after the last success (or, without one, in the last ${String(RETENTION_DAYS)} days) and was not accepted. Absent: there is none.`,
    }),
    suspendedSince: dateTime.optional().meta({
      description: `Since when deliveries have been held. Absent: they are not held, or have been for more than ${String(RETENTION_DAYS)} days.`,
    }),
    lastSuccessAt: dateTime.optional().meta({
      description: `When a delivery was last accepted, of the 100 accepted ones with the newest first attempts. Absent: none in the last ${String(RETENTION_DAYS)} days.`,
    }),
    pending: z
      .int()
      .min(0)
      .max(MAX_COUNTED_PENDING)
      .meta({
        description: `Deliveries that are neither accepted nor failed, including those waiting for their first attempt, for example while the subscription is paused; counted up to ${String(MAX_COUNTED_PENDING)}.`,
      }),
    oldestPendingAt: dateTime.optional().meta({ description: 'When the oldest pending delivery was created.' }),
  })
  .meta({
    id: 'SubscriptionHealth',
    description: 'The state of the deliveries, taken from the history; usually less than a second old.',
  });

export function toHealth(known: SubscriptionHealth): z.infer<typeof health> {
  const { status, failingSince, suspendedSince, lastSuccessAt, pending, oldestPendingAt } = known;
  return {
    status,
    ...(failingSince === null ? {} : { failingSince: formatTime(failingSince) }),
    ...(suspendedSince === null ? {} : { suspendedSince: formatTime(suspendedSince) }),
    ...(lastSuccessAt === null ? {} : { lastSuccessAt: formatTime(lastSuccessAt) }),
    pending,
    ...(oldestPendingAt === null ? {} : { oldestPendingAt: formatTime(oldestPendingAt) }),
  };
}
