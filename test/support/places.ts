import { type V1Event, type V2Event, type Walk, walkV1, walkV2 } from './delivery-history.js';
import type { PlainEvent } from './plain-rules.js';
import type { ReceivedCall } from './receiver.js';
import type { RunningWaypost } from './running-waypost.js';
import { type Delivery, deliveryLine, type Subscription } from './subscriptions.js';

/** A record of `webhook.attempts` as the command line prints it. */
export interface Attempt {
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  readonly eventTime: number;
  readonly url: string;
  readonly attempt: number;
  readonly dueAt: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly errorCode: string | null;
  readonly outcome: string;
  readonly decision: string;
  readonly nextDueAt: number | null;
}

interface FleetEvent {
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  readonly eventTime: number;
}

interface Line<T> {
  readonly value: T;
}

/** What the two logs hold, of all fleets. */
export interface Logs {
  readonly fleetEvents: readonly FleetEvent[];
  readonly attempts: readonly Attempt[];
}

/** The five places where a fleet's events can be seen. */
export interface Places {
  readonly fleetEvents: readonly PlainEvent[];
  readonly calls: readonly ReceivedCall[];
  readonly attempts: readonly Attempt[];
  readonly v1: Walk<V1Event>;
  readonly v2: Walk<V2Event>;
}

export async function readLogs(waypost: RunningWaypost): Promise<Logs> {
  const fleetEvents = await waypost.cliLines<Line<FleetEvent>>('read', 'fleet.events', '--until-end');
  const attempts = await waypost.cliLines<Line<Attempt>>('read', 'webhook.attempts', '--until-end');
  // null: another spec has put something unusable there.
  const valuesOf = <T>(lines: readonly Line<T | null>[]) => lines.flatMap(({ value }) => value ?? []);
  return { fleetEvents: valuesOf(fleetEvents), attempts: valuesOf(attempts) };
}

interface PlacesOptions {
  readonly fleet: string;
  readonly logs: Logs;
  readonly calls: readonly ReceivedCall[];
  /** Epoch ms: the history is asked for what came after. */
  readonly from: number;
  readonly pageSizes: { readonly v1: number; readonly v2: number };
}

export async function seeFivePlaces(
  waypost: RunningWaypost,
  { fleet, logs, calls, from, pageSizes }: PlacesOptions,
): Promise<Places> {
  return {
    fleetEvents: logs.fleetEvents
      .filter(({ fleetId }) => fleetId === fleet)
      .map((event) => ({ ...event, eventTime: isoTime(event.eventTime) })),
    calls,
    attempts: logs.attempts.filter(({ fleetId }) => fleetId === fleet),
    v1: await walkV1(waypost, { fleet, from, pageSize: pageSizes.v1 }),
    v2: await walkV2(waypost, { fleet, from, pageSize: pageSizes.v2 }),
  };
}

/** The deliveries that each place shows, once for every time that it shows them; the receiver's calls once each. */
export type SeenDeliveries = Readonly<Record<'receiver' | 'attemptsLog' | 'v1' | 'v2', readonly Delivery[]>>;

export function seenDeliveries(places: Places, subscriptions: readonly Subscription[]): SeenDeliveries {
  const first = places.attempts.filter(({ attempt }) => attempt === 1);
  return {
    receiver: distinct(places.calls.map((call) => deliveryOfCall(call, subscriptions))),
    attemptsLog: first.map((attempt) => ({ ...attempt, eventTime: isoTime(attempt.eventTime) })),
    v1: places.v1.items.map((event) => ({
      eventId: event.event_id,
      subscriptionId: event.subscription_id,
      eventType: event.event_type,
      deviceId: event.device_id,
      eventTime: event.event_time,
    })),
    v2: places.v2.items,
  };
}

/** A kill repeats a call, and so does a retry after a call that the receiver was too busy to answer in time. */
function distinct(deliveries: readonly Delivery[]): Delivery[] {
  return [...new Map(deliveries.map((delivery) => [deliveryLine(delivery), delivery])).values()];
}

interface Body {
  readonly eventId: string;
  readonly eventTime: string;
  readonly eventType: string;
  readonly eventData: { readonly deviceId: string };
}

function deliveryOfCall(call: ReceivedCall, subscriptions: readonly Subscription[]): Delivery {
  const { eventData, ...envelope } = JSON.parse(call.body.toString()) as Body;
  return {
    ...envelope,
    deviceId: eventData.deviceId,
    subscriptionId: subscriptionOfCall(call, envelope.eventType, subscriptions)?.id ?? 'unknown',
  };
}

/** A subscription is known by its URL and type: no two of a fleet share both. */
export function subscriptionOfCall(
  { path }: ReceivedCall,
  eventType: string,
  subscriptions: readonly Subscription[],
): Subscription | undefined {
  return subscriptions.find((one) => one.eventType === eventType && new URL(one.url).pathname === path);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
