import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import type { ReplayProgress, WebhookAttempt, WebhookReplay } from '@waypost/domain';
import { openRecordPublisher } from '@waypost/platform/without-nest';
import { partitionForKey } from '@waypost/streams';
import { codecsOf } from '../shared/committed-log.js';
import { type Log, PARTITIONS } from '../shared/stage.js';
import { REFUSAL_CODE } from './endpoint-answers.js';
import type { Cancel, ExpectedDelivery, LoggedAttempt } from './judge/observations.js';
import {
  CANCELLED,
  deviceId,
  DEVICES_OF_A_FLEET,
  FILTERED,
  FIXED,
  NEVER_TYPE,
  REPLAYED,
  type Subscriber,
} from './subscribers.js';

const FIRST_AFTER_MS = 4_500;
/** Requested while the first ones may still be running. */
const SECOND_AFTER_MS = 4_000;
const BETWEEN_MS = 20_000;
/** More than the time between two requests, and no more of a long run than is sent again before the next request. */
const FILTERED_MS = 60_000;
/** Finding nothing more to send takes as long as reading the window: less than the time between two requests. */
const FIXED_MS = 10 * 60_000;
/** The endpoint that is fixed now may have answered just before. */
const SETTLED_MS = 300;
/** Before its request: what was sent since then is in the log, and not of the replay. */
const ENDS_BEFORE_MS = 500;
/** So that faults happen while a replay runs. */
const REPLAY_TAKES_MS = 4_000;
const ENDPOINTS = 100;
const LEAST_RATE = 3;
/** It takes longer than until the cancel, and after that as long as a judge needs to see that it goes on. */
const CANCELLED_RATE = 1;

export interface ReplayTraffic extends Log {
  readonly subscribers: readonly Subscriber[];
  readonly deliveriesPerSecond: number;
  readonly now: () => number;
  /** Resolves when there is something to replay, and from now on the endpoints of FIXED accept. */
  readonly fix: () => Promise<unknown>;
  /** Writes while the broker is there. */
  readonly pass: (work: () => Promise<void>) => Promise<void>;
}

/**
 * Requests replays of what was sent since the last window for REPLAYED, and replays of everything that was refused before
 * for FIXED, by status or by code: of them only the first has anything to send, as later ones find it delivered. The first ones
 * are requested even if the signal is aborted before. Others are of one device, or of a type that never came, and one is
 * cancelled before it has ended.
 *
 * @returns all requests, once the signal is aborted
 */
export async function replayNowAndThen(options: ReplayTraffic, signal: AbortSignal): Promise<RequestedReplay[]> {
  const { subscribers, now, fix, pass } = options;
  const codec = codecsOf(options).webhookReplays;
  await codec.prepare();
  const publisher = await openRecordPublisher(options.kafka, topics.webhookReplays.name);
  const requests: RequestedReplay[] = [];
  const publish = (replays: readonly WebhookReplay[]): Promise<void> => {
    const records = replays.map((replay) => ({
      key: Buffer.from(replay.replayId),
      value: codec.encode(replay),
      partition: partitionForKey(Buffer.from(replay.subscriptionId), PARTITIONS),
    }));
    return pass(() => publisher.publish(records));
  };
  const wait = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined);
  const startedMs = now();
  let [sinceMs, series] = [startedMs, 0];
  await wait(FIRST_AFTER_MS);
  await fix();
  await wait(SETTLED_MS);
  do {
    series += 1;
    const nowMs = now();
    const perEndpoint = (options.deliveriesPerSecond / ENDPOINTS) * ((nowMs - sinceMs) / REPLAY_TAKES_MS);
    const common = { series, endDate: nowMs, ratePerSecond: Math.max(LEAST_RATE, Math.ceil(perEndpoint)) };
    const window = { startDate: sinceMs, endDate: nowMs - ENDS_BEFORE_MS };
    const made = [
      ...REPLAYED.map((number) => replayOf(subscribers[number], { ...common, ...window })),
      ...FIXED.map((number, index) => {
        const result = index === 0 ? { status: 'failed' } : { statusCode: REFUSAL_CODE };
        return replayOf(subscribers[number], {
          ...common,
          startDate: Math.max(startedMs, nowMs - FIXED_MS),
          ...result,
        });
      }),
      ...FILTERED.map((number, index) => {
        const subscriber = subscribers[number];
        const device = deviceId(subscriber?.subscription.fleetId ?? '', series % DEVICES_OF_A_FLEET);
        const filter = index === 0 ? { deviceId: device } : { eventType: NEVER_TYPE };
        return replayOf(subscriber, { ...common, startDate: Math.max(startedMs, nowMs - FILTERED_MS), ...filter });
      }),
    ];
    const long = replayOf(subscribers[CANCELLED], { ...common, startDate: startedMs, ratePerSecond: CANCELLED_RATE });
    await publish([...made, long]);
    sinceMs = window.endDate;
    await wait(series === 1 ? SECOND_AFTER_MS : BETWEEN_MS);
    const cancelled = { ...long, cancelled: true, version: 2, updatedAt: now() };
    await publish([cancelled]);
    requests.push(...made.map((replay) => ({ replay, cancelledMs: null })), { replay: long, cancelledMs: now() });
  } while (!signal.aborted);
  await publisher.close();
  return requests;
}

export interface RequestedReplay {
  readonly replay: WebhookReplay;
  /** Epoch milliseconds: when the broker had its cancel; null: it has none. */
  readonly cancelledMs: number | null;
}

export function cancelsOf(requests: readonly RequestedReplay[]): Cancel[] {
  return requests.flatMap(({ replay: { replayId }, cancelledMs }) =>
    cancelledMs === null ? [] : [{ replayId, knownMs: cancelledMs }],
  );
}

type Asked = Pick<WebhookReplay, 'series' | 'startDate' | 'endDate' | 'ratePerSecond'> &
  Partial<Pick<WebhookReplay, 'status' | 'statusCode' | 'deviceId' | 'eventType'>>;

function replayOf(subscriber: Subscriber | undefined, asked: Asked): WebhookReplay {
  if (subscriber === undefined) throw new Error('There is no such subscriber.');
  const { id: subscriptionId, fleetId } = subscriber.subscription;
  const number = String(asked.series).padStart(4, '0');
  return {
    replayId: `${subscriptionId.slice(0, 9)}${number}${subscriptionId.slice(13)}`,
    subscriptionId,
    fleetId,
    status: null,
    statusCode: null,
    eventType: null,
    deviceId: null,
    eventId: null,
    cancelled: false,
    version: 1,
    ...asked,
    createdAt: asked.endDate,
    updatedAt: asked.endDate,
  };
}

/** The id by which the judge knows a delivery: replays send the event of an earlier one again. */
export function idInSeries(eventId: string, series: number): string {
  return series === 0 ? eventId : `${eventId}/${String(series)}`;
}

/** Of the first delivery of the event. */
export function idOfFirst(idOfSeries: string): string {
  return idOfSeries.split('/')[0] ?? '';
}

export interface PlacedAttempt {
  readonly record: { readonly offset: number; readonly timestamp: number };
  /** With the id of the first delivery. */
  readonly value: Omit<LoggedAttempt, 'partition' | 'offset'>;
}

export interface ReplayEvidence {
  readonly expected: readonly ExpectedDelivery[];
  /** In the order of the log. */
  readonly attempts: readonly PlacedAttempt[];
  /** By replay: the last one in the log. */
  readonly progress: ReadonlyMap<string, ReplayProgress>;
  readonly problems: string[];
}

/** what a replay has to send, in the order of the first deliveries, by the attempts that it says it goes by. */
export function expectedOfReplay(
  { replay, cancelledMs }: RequestedReplay,
  evidence: ReplayEvidence,
): ExpectedDelivery[] {
  const { replayId, subscriptionId, startDate, endDate, status, statusCode, series, createdAt } = replay;
  const progress = evidence.progress.get(replayId);
  const name = `replay ${String(series)} of ${subscriptionId}`;
  const isCancelled = progress?.state === 'cancelled' && cancelledMs !== null;
  if (progress?.state !== 'completed' && !isCancelled) {
    evidence.problems.push(`${name} is ${progress?.state ?? 'not begun'}`);
    return [];
  }
  const ours = evidence.attempts.filter(({ value }) => value.subscriptionId === subscriptionId);
  const left = ours.filter(({ record }) => record.timestamp < createdAt && record.offset >= progress.attemptsEnd);
  // Before it has looked at the log, a cancel is the end of it.
  const hasBegun = !isCancelled || progress.matched !== null;
  if (hasBegun && left.length > 0)
    evidence.problems.push(`${name} leaves out ${String(left.length)} attempts from before it`);
  /** The places of their first deliveries: a replay goes by them. */
  const chosen = new Map<string, number>();
  const latest = new Map<string, Pick<WebhookAttempt, 'series' | 'outcome' | 'statusCode'>>();
  for (const { record, value } of ours) {
    const { eventId, firstAttemptAt, deviceId: device, eventType } = value;
    const isOfFilter =
      (replay.deviceId === null || replay.deviceId === device) &&
      (replay.eventType === null || replay.eventType === eventType);
    const latestSeries = latest.get(eventId)?.series ?? 0;
    if (record.offset < progress.attemptsEnd) {
      if (value.series === 0 && isOfFilter && firstAttemptAt >= startDate && firstAttemptAt < endDate)
        chosen.set(eventId, value.deliveryOffset);
      if (value.series >= latestSeries) latest.set(eventId, value);
    } else if (value.series < series && value.series > latestSeries)
      // Replays of a subscription run one after the other: an earlier one had written it, so it was waiting.
      latest.set(eventId, { series: value.series, outcome: 'pending', statusCode: null });
  }
  const isWanted = (eventId: string): boolean => {
    const result = latest.get(eventId);
    const isOfStatus = status === null || result?.outcome === status;
    return chosen.has(eventId) && isOfStatus && (statusCode === null || result?.statusCode === statusCode);
  };
  const selected = evidence.expected.filter((one) => one.series === 0 && isWanted(one.eventId));
  const { matched, sent } = progress;
  // One that is cancelled may have sent some of them.
  const placeOf = ({ eventId }: ExpectedDelivery): number => chosen.get(eventId) ?? 0;
  const toSend = isCancelled ? selected.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, sent) : selected;
  if ((hasBegun && matched !== selected.length) || sent !== toSend.length)
    evidence.problems.push(
      `${name} says that ${String(matched)} match and ${String(sent)} were sent, of ${String(selected.length)}`,
    );
  return toSend.map((one) => ({ ...one, eventId: idInSeries(one.eventId, series), series, replayId }));
}
