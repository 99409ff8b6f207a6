import type { DeliveryFindings } from './delivery-ledger.js';
import type { EventFindings } from './event-ledger.js';

const EXAMPLES = 5;

function describe(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > EXAMPLES ? ', ...' : '';
  return [`  ${what}: ${String(names.length)} (${names.slice(0, EXAMPLES).join('; ')}${more})`];
}

/** @param isCut the oldest pings are gone */
export function describeEvents(events: EventFindings, isCut: boolean): string[] {
  const note =
    `  cannot be judged: ${String(events.unjudged)} (the oldest pings are gone, and with them what was remembered of ` +
    'these devices)';
  return [
    `events: ${String(events.recomputed)} recomputed from the pings, ${String(events.logged)} in fleet.events`,
    ...describe('missing', events.missing),
    ...describe('unexpected', events.unexpected),
    ...describe('repeated', events.repeated),
    ...describe('unreadable', events.unreadable),
    ...(isCut ? [note] : []),
  ];
}

export function describeDeliveries(deliveries: DeliveryFindings): string[] {
  const { expected, found, delivered, failed, pending, changedSubscriptions } = deliveries;
  const note = `  ${String(changedSubscriptions)} subscriptions were changed since: of these only what was made is looked at.`;
  return [
    `deliveries: ${String(expected)} expected, ${String(found)} found; ${String(delivered)} delivered, ${String(failed)} failed, ${String(pending)} pending`,
    ...describe('missing', deliveries.missing),
    ...describe('repeated', deliveries.repeated),
    ...describe('unreadable', deliveries.unreadable),
    ...(changedSubscriptions > 0 ? [note] : []),
  ];
}

/** Everything in which the logs do not agree. */
export const differencesOf = (events: EventFindings, deliveries: DeliveryFindings): readonly string[] => [
  ...events.missing,
  ...events.unexpected,
  ...events.repeated,
  ...events.unreadable,
  ...deliveries.missing,
  ...deliveries.repeated,
  ...deliveries.unreadable,
];
