import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookSubscription } from '@waypost/domain';
import type { Log } from '../shared/stage.js';
import type { Settings, SettingsVersion } from './judge/observations.js';
import { SETTLES_MS } from './judge/settings.js';
import { openSubscriberPublisher, PAUSED, type Subscriber } from './subscribers.js';

const FIRST_AFTER_MS = 1_500;
/** Over before the first fault of a short run, so that what was held back is seen to go on. */
const CHANGED_FOR_MS = 3_500;
const REPEATED_AFTER_MS = 300;
/** After a pause there is much that waits. */
const SAME_AGAIN_AFTER_MS = 2_200;
const BETWEEN_MS = 12_500;

export interface ChangesOptions extends Log {
  readonly subscribers: readonly Subscriber[];
  readonly now: () => number;
  /** Writes while the broker is there. */
  readonly pass: (work: () => Promise<void>) => Promise<void>;
  /** Called when a change has been published, before it is taken back. */
  readonly onChanged: () => Promise<void>;
}

type FieldsOf = (one: Subscriber, nowMs: number) => Partial<WebhookSubscription> | null;

/**
 * Pauses and changes subscriptions now and then, and takes it back some seconds later. Ends with all of them as they were
 * at first, but those that are deleted.
 * @returns every version, in the order of each subscription
 */
export async function changeNowAndThen(options: ChangesOptions, signal: AbortSignal): Promise<SettingsVersion[]> {
  const owner = await openOwner(options);
  const wait = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined);
  const changed: FieldsOf = ({ change }, nowMs) => (change === null ? { status: 'paused' } : change(nowMs));
  const asAtFirst: FieldsOf = () => ({});
  await wait(FIRST_AFTER_MS);
  while (!signal.aborted) {
    await owner.publish(changed);
    await options.onChanged();
    await wait(CHANGED_FOR_MS);
    await owner.publish(asAtFirst);
    await wait(REPEATED_AFTER_MS);
    await owner.publishEarlierAgain();
    await wait(SAME_AGAIN_AFTER_MS);
    // A newer version in which nothing is new.
    await owner.publish(asAtFirst);
    await wait(BETWEEN_MS);
  }
  await owner.close();
  return owner.versions;
}

interface Owner {
  readonly versions: SettingsVersion[];
  /** The next version of each subscription that is left. */
  publish(fieldsOf: FieldsOf): Promise<void>;
  /** The version before, as the outbox may do after a crash: the newest stays in force. */
  publishEarlierAgain(): Promise<void>;
  close(): Promise<void>;
}

interface Owned {
  readonly subscriber: Subscriber;
  /** null: it was deleted. */
  current: WebhookSubscription | null;
  before: WebhookSubscription | null;
}

async function openOwner(options: ChangesOptions): Promise<Owner> {
  const { subscribers, now, pass } = options;
  const paused = new Set(PAUSED.map((number) => subscribers[number]?.subscription.id));
  const all = subscribers.filter(({ subscription, change }) => change !== null || paused.has(subscription.id));
  const owned = all.map((subscriber): Owned => ({ subscriber, current: subscriber.subscription, before: null }));
  const versions = all.map((one) => versionOf(one, one.subscription, { fromMs: -Infinity, knownMs: -Infinity }));
  const publisher = await openSubscriberPublisher(options);
  const left = (): Owned[] => owned.filter(({ current }) => current !== null);
  let number = 1;
  return {
    versions,
    async publish(fieldsOf) {
      number += 1;
      await pass(async () => {
        const fromMs = now();
        const changing = left();
        for (const one of changing) {
          const fields = fieldsOf(one.subscriber, fromMs);
          one.before = one.current;
          one.current = fields && { ...one.subscriber.subscription, ...fields, version: number, updatedAt: fromMs };
        }
        await publisher.publish(
          changing.map(({ subscriber, current }) => ({ subscription: subscriber.subscription, current })),
        );
        const times = { fromMs, knownMs: now() };
        for (const { subscriber, current } of changing) versions.push(...versionsOf(subscriber, current, times));
      });
    },
    publishEarlierAgain: () =>
      pass(() =>
        publisher.publish(left().flatMap(({ before }) => (before === null ? [] : [{ subscription: before }]))),
      ),
    close: () => publisher.close(),
  };
}

type Times = Pick<SettingsVersion, 'fromMs' | 'knownMs'>;

/** It, and what it becomes by itself: a secret that was replaced expires. */
function versionsOf(subscriber: Subscriber, current: WebhookSubscription | null, times: Times): SettingsVersion[] {
  const version = versionOf(subscriber, current, times);
  const expiresAt = current?.secrets.find((one) => one.expiresAt !== null)?.expiresAt ?? null;
  if (current === null || expiresAt === null) return [version];
  const secrets = current.secrets.filter((one) => one.expiresAt === null);
  const after = versionOf(subscriber, { ...current, secrets }, { fromMs: expiresAt, knownMs: expiresAt });
  return [version, { ...after, settledMs: expiresAt }];
}

function versionOf(subscriber: Subscriber, current: WebhookSubscription | null, times: Times): SettingsVersion {
  const { subscription } = subscriber;
  const { status, eventType, deviceIds, url, rateLimitPerSecond, secrets } = current ?? subscription;
  const first = subscription.secrets.map(({ sealed }) => sealed);
  const signers = secrets.map(({ sealed }) => (first.includes(sealed) ? '0' : '1')).sort();
  const settings: Settings = {
    status: current === null ? 'deleted' : status,
    ...{ eventType, deviceIds, url },
    ratePerSecond: rateLimitPerSecond,
    signers: signers.join(''),
  };
  return { subscriptionId: subscription.id, settings, ...times, settledMs: times.knownMs + SETTLES_MS };
}
