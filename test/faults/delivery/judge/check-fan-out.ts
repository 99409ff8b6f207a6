import { groupBy } from '../../../support/group-by.js';
import type { Observations } from './observations.js';
import type { ProblemList } from './problem-list.js';

/** Each event x subscription that wants it is in webhook.deliveries, once, and nothing else is. */
export function checkFanOut({ expected, deliveries }: Observations, problems: ProblemList): void {
  const logged = groupBy(deliveries, ({ eventId }) => eventId);
  for (const { eventId, subscriptionId } of expected) {
    const found = logged.get(eventId) ?? [];
    if (found.length === 0) problems.add('event without its delivery in the log', `${eventId} for ${subscriptionId}`);
    if (found.length > 1)
      problems.add('delivery in the log more than once', `${eventId} ${String(found.length)} times`);
    for (const one of found) {
      if (one.subscriptionId !== subscriptionId)
        problems.add('delivery for another subscription', `${eventId} for ${one.subscriptionId}`);
    }
  }
  const wanted = new Set(expected.map(({ eventId }) => eventId));
  for (const eventId of logged.keys())
    if (!wanted.has(eventId)) problems.add('delivery that nobody has asked for', eventId);
}
