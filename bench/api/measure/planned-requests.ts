import type { CallName } from '../bench-flags.js';
import type { PlannedRequest } from '../load/messages.js';
import { sampleDelivery } from '../load/sample-deliveries.js';
import type { Callers } from './callers.js';

/** Different ones of each fleet: the same page again and again would be in every cache. */
const OF_A_FLEET = 50;
const PAGE = 100;
const HISTORY = { v1: '/public/v1/webhook-events', v2: '/public/v2/events' };

/** The requests of one call, of every fleet in turn. */
export function plannedRequests(call: CallName, callers: Callers, deliveries: number): PlannedRequest[] {
  const { fleets, fromMs, toMs } = callers;
  const numbers = Array.from({ length: OF_A_FLEET }, (_, number) => number);
  /** Starts that leave a full page behind each of them. */
  const startDate = (number: number): string =>
    new Date(Math.floor(fromMs + ((toMs - fromMs) * number) / (OF_A_FLEET + 1))).toISOString();
  const endDate = new Date(toMs).toISOString();
  const pathOf: Record<CallName, (fleet: Callers['fleets'][number], number: number) => string> = {
    'v1-page': (_, number) => `${HISTORY.v1}?startDate=${startDate(number)}&endDate=${endDate}&limit=${String(PAGE)}`,
    'v2-page': (_, number) => `${HISTORY.v2}?startDate=${startDate(number)}&limit=${String(PAGE)}`,
    'v2-event': (fleet, number) => {
      const count = Math.ceil(deliveries / fleets.length);
      const index = Math.floor((count * number) / OF_A_FLEET);
      const [first] = sampleDelivery(fleet, index, Math.floor(fromMs + ((toMs - fromMs) * index) / count));
      return `${HISTORY.v2}?eventId=${first?.eventId ?? ''}`;
    },
    subscription: (fleet, number) =>
      `/public/v1/webhook-subscriptions/${fleet.subscriptions[number % fleet.subscriptions.length]?.id ?? ''}`,
  };
  return numbers.flatMap((number) =>
    fleets.map((fleet) => ({
      path: pathOf[call](fleet, number),
      headers: { authorization: `Bearer ${fleet.key}` },
    })),
  );
}
