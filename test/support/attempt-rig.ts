import { setMaxListeners } from 'node:events';
import {
  type AttemptDecision,
  type BearerAuth,
  type ClientCertificate,
  type CustomHeader,
  decideAttempt,
  sealClientKey,
  sealClientSecret,
  sealHeaderValue,
  sealSigningSecret,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';
import { createEgressClient, type EgressClient, type EgressResult } from '@waypost/egress';
import { momentAfter, momentNow } from '../../apps/webhook-delivery/src/process/clocks.js';
import { nodeTimers } from '../../apps/webhook-delivery/src/process/timers.js';
import { SharedPermits } from '../../apps/webhook-delivery/src/shares/shared-permits.js';
import { TOKEN_REQUESTS } from '../../apps/webhook-delivery/src/single-attempt/attempt-limits.js';
import { type AttemptRun, SignedPosts } from '../../apps/webhook-delivery/src/single-attempt/attempt-runner.js';
import {
  type BearerTokens,
  type BearerTokensOptions,
  ClientCredentialsTokens,
  wantsToken,
} from '../../apps/webhook-delivery/src/single-attempt/bearer-tokens.js';
import { createSubscriptionIndex } from '../../apps/webhook-delivery/src/subscriptions/subscription-directory.js';
import type { Certificate } from './certificates.js';
import { type Behavior, type ReceivedCall, type Receiver, startReceiver } from './receiver.js';
import { subscriptionOf } from './samples.js';

const SEALING_KEYS = [Buffer.alloc(32, 3)];
const never = new AbortController().signal;
setMaxListeners(0, never); // one for each attempt in flight

export interface RunOptions {
  readonly delivery?: WebhookDelivery;
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly attempt?: number;
  /** How long ago the attempt began. */
  readonly begunMsAgo?: number;
  readonly signal?: AbortSignal;
}

export interface Course {
  readonly runs: readonly AttemptRun[];
  readonly decisions: readonly AttemptDecision[];
}

/** Attempts through the real egress client to a real server on the loopback interface, which is receiver and token server. */
export interface AttemptRig {
  readonly receiver: Receiver;
  readonly tokens: BearerTokens;
  nowMs(): number;
  /** Time passes for the runner and the tokens, not for the timers of Node. */
  advance(ms: number): void;
  /** Sets the epoch clock ahead, or back. */
  stepClock(byMs: number): void;
  /** From now on only `advance` moves the clocks. */
  freeze(): void;
  /** Where its receiver takes webhooks. */
  hook(): string;
  /** The only request that came there. */
  onlyCall(): ReceivedCall;
  put(subscription: WebhookSubscription): void;
  /** A version that cannot be read. */
  putUnreadable(subscriptionId: string): void;
  remove(subscriptionId: string): void;
  /** What `caughtUp` of the directory does. */
  onCaughtUp(caughtUp: () => Promise<void>): void;
  run(subscriptionId: string, options?: RunOptions): Promise<AttemptRun>;
  /** A delivery from its first attempt on, for as long as it is tried again at once. */
  deliver(subscriptionId: string): Promise<Course>;
  close(): Promise<void>;
}

/**
 * @param trustedCa of receivers of the test's own that speak TLS
 * @param onResult called with each result of the HTTP client, before the runner has it
 */
export async function startAttemptRig(
  behavior?: Behavior,
  trustedCa?: string,
  onResult: (result: EgressResult) => void = () => undefined,
): Promise<AttemptRig> {
  const receiver = await startReceiver(behavior, { bodies: 'any' });
  const client = createEgressClient({
    allowedSubnets: ['127.0.0.0/8'],
    allowHttp: true,
    ...(trustedCa === undefined ? {} : { trustedCa }),
  });
  const egress: EgressClient = {
    post: async (request) => {
      const result = await client.post(request);
      onResult(result);
      return result;
    },
    close: () => client.close(),
  };
  const index = createSubscriptionIndex();
  let aheadMs = 0;
  let steppedMs = 0;
  let frozenMs: number | undefined;
  let caughtUp = (): Promise<void> => Promise.resolve();
  const startedAt = Date.now();
  const startedMs = performance.now();
  const monotonicMs = (): number => (frozenMs ?? performance.now() - startedMs) + aheadMs;
  const nowMs = (): number => startedAt + Math.floor(monotonicMs()) + steppedMs;
  const idle = () => Promise.resolve();
  const directory = { ...index, start: idle, stop: idle, caughtUp: () => caughtUp() };
  const permits = new SharedPermits({ limits: TOKEN_REQUESTS, timers: nodeTimers, monotonicMs });
  const fleetOf = (id: string): string => index.get(id)?.fleetId ?? '';
  const isWanted: BearerTokensOptions['isWanted'] = (id, auth) => wantsToken(index.get(id), auth);
  const tokens = new ClientCredentialsTokens({
    egress,
    permits,
    fleetOf,
    isWanted,
    sealingKeys: SEALING_KEYS,
    nowMs,
    monotonicMs,
  });
  const runner = new SignedPosts(directory, egress, tokens, { sealingKeys: SEALING_KEYS }, monotonicMs);

  const run: AttemptRig['run'] = (subscriptionId, options = {}) =>
    runner.run({
      delivery: options.delivery ?? deliveryOf(subscriptionId),
      traceparent: options.traceparent ?? '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
      tracestate: options.tracestate ?? null,
      attempt: options.attempt ?? 1,
      started: momentAfter(momentNow({ nowMs, monotonicMs }), -(options.begunMsAgo ?? 0)),
      signal: options.signal ?? never,
    });

  return {
    receiver,
    tokens,
    nowMs,
    advance: (ms) => void (aheadMs += ms),
    stepClock: (byMs) => void (steppedMs += byMs),
    freeze: () => {
      // Whole, or sums of it and seconds are rounded: a time that has come would seem to be a fraction ahead.
      frozenMs = Math.ceil(performance.now() - startedMs);
    },
    hook: () => receiver.url('/hook'),
    onlyCall: () => {
      const [call, ...more] = receiver.callsTo('/hook');
      if (call === undefined || more.length > 0) throw new Error(`one call expected, not ${String(more.length + 1)}`);
      return call;
    },
    put: (subscription) => index.put(subscription),
    putUnreadable: (subscriptionId) => index.putUnreadable(subscriptionId),
    remove: (subscriptionId) => index.remove(subscriptionId),
    onCaughtUp: (next) => {
      caughtUp = next;
    },
    run,
    async deliver(subscriptionId) {
      const runs: AttemptRun[] = [];
      const decisions: AttemptDecision[] = [];
      let unauthorizedBefore = false;
      for (let attempt = 1; ; attempt++) {
        const ended = await run(subscriptionId, { attempt });
        runs.push(ended);
        if (ended.type !== 'ended') return { runs, decisions };
        const { result, auth } = ended;
        const endedAt = nowMs();
        const decision = decideAttempt({ attempt, result, auth, unauthorizedBefore, endedAt, random: 0.5 });
        decisions.push(decision);
        if (decision.outcome !== 'delivered' && decision.renewToken) ended.discardToken();
        if (decision.outcome !== 'retrying' || decision.nextDueAt > endedAt) return { runs, decisions };
        unauthorizedBefore ||= result.type === 'response' && result.statusCode === 401;
      }
    },
    async close() {
      await egress.close();
      await receiver.close();
    },
  };
}

export interface SecretOptions {
  /** Newest first; the second and further ones have an end. */
  readonly secrets?: readonly { readonly bytes: Buffer; readonly expiresAt: number | null }[];
}

export function rigSubscription(
  id: string,
  fields: Partial<WebhookSubscription>,
  { secrets = [{ bytes: Buffer.alloc(32, 1), expiresAt: null }] }: SecretOptions = {},
): WebhookSubscription {
  return subscriptionOf({
    id,
    secrets: secrets.map(({ bytes, expiresAt }, index) => ({
      sealed: sealSigningSecret(bytes, SEALING_KEYS, Buffer.alloc(12, index), id),
      expiresAt,
    })),
    ...fields,
  });
}

export function rigHeader(subscriptionId: string, name: string, secret: string): CustomHeader {
  const sealedValue = sealHeaderValue(secret, SEALING_KEYS, Buffer.alloc(12, 8), { subscriptionId, name });
  return { name, value: null, sealedValue };
}

export function rigCertificate(subscriptionId: string, { cert, key }: Certificate): ClientCertificate {
  const sealedKey = sealClientKey(key, SEALING_KEYS, Buffer.alloc(12, 7), subscriptionId);
  return { certificates: cert, sealedKey, subject: 'CN=any', expiresAt: 0 };
}

export function rigAuth(subscriptionId: string, tokenUrl: string, clientSecret = 's'): BearerAuth {
  const sealedClientSecret = sealClientSecret(clientSecret, SEALING_KEYS, Buffer.alloc(12, 9), subscriptionId);
  return {
    tokenUrl,
    clientId: 'client',
    sealedClientSecret,
    scope: null,
    audience: null,
    tokenAuthMethod: 'client_secret_basic',
  };
}

export function deliveryOf(subscriptionId: string, fields: Partial<WebhookDelivery> = {}): WebhookDelivery {
  return {
    eventId: '5b2f3c1e-0d0a-5f6e-9c51-2f4d3a1b0c9d',
    subscriptionId,
    fleetId: 'fleet-1',
    deviceId: 'device-1',
    eventType: 'position',
    eventTime: 0,
    format: 'v1',
    body: '{"eventId":"5b2f3c1e-0d0a-5f6e-9c51-2f4d3a1b0c9d","name":"Zoë"}',
    createdAt: 0,
    series: 0,
    replayId: null,
    ...fields,
  };
}
