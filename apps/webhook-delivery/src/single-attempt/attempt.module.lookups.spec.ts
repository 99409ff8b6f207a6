import { once, setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { EgressClient } from '@waypost/egress';
import { deliveryOf, rigSubscription } from '../../../../test/support/attempt-rig.js';
import { type Receiver, startReceiver } from '../../../../test/support/receiver.js';
import { momentNow } from '../process/clocks.js';
import { createSubscriptionIndex } from '../subscriptions/subscription-directory.js';
import { type AttemptRun, SignedPosts } from './attempt-runner.js';
import { startEgressModule } from './testing/egress-module.js';

const NEIGHBORS = 1_000;
/** Counts A and AAAA together, as CoreDNS in Kubernetes does; a lookup asks for both. */
const QUESTIONS_AT_A_TIME = 1_000;

let module: TestingModule;
let receiver: Receiver;
const index = createSubscriptionIndex();
const stop = new AbortController();
const stopped = once(stop.signal, 'abort');
setMaxListeners(0, stop.signal); // one for each attempt in flight

/** A name server that refuses what is too much. Names of neighbors are at servers that are silent. */
function startNameServer() {
  let questions = 0;
  return async (name: string): Promise<{ address: string; family: number }[]> => {
    if (questions + 2 > QUESTIONS_AT_A_TIME) throw Object.assign(new Error('refused'), { code: 'EREFUSED' });
    questions += 2;
    if (name.startsWith('neighbor')) await stopped;
    questions -= 2;
    return [{ address: '127.0.0.1', family: 4 }];
  };
}

beforeEach(async () => {
  receiver = await startReceiver(undefined, { bodies: 'any' });
  const egress = { allowedSubnets: ['127.0.0.0/8'], denied: [], allowHttp: true, lookup: startNameServer() };
  module = await startEgressModule(egress);
});
afterEach(async () => {
  stop.abort();
  await module.close();
  await receiver.close();
});

function subscribe(id: string, fleetId: string): void {
  const url = receiver.url('/hook').replace('127.0.0.1', `${id}.example`);
  index.put(rigSubscription(id, { url, fleetId }));
}

function attempt(id: string): Promise<AttemptRun> {
  const monotonicMs = (): number => performance.now();
  const idle = () => Promise.resolve();
  const runner = new SignedPosts(
    { ...index, caughtUp: idle },
    module.get(EgressClient),
    { size: 0, cached: () => undefined, discard: () => undefined, tokenFor: () => Promise.reject(new Error()) },
    { sealingKeys: [Buffer.alloc(32, 3)] },
    monotonicMs,
  );
  const started = momentNow({ nowMs: Date.now, monotonicMs });
  const traced = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00', tracestate: null };
  return runner.run({ delivery: deliveryOf(id), ...traced, attempt: 1, started, signal: stop.signal });
}

it('lookups of a fleet with a thousand names that are never answered leave the name server to others (R-26)', async () => {
  for (let n = 0; n < NEIGHBORS; n++) {
    subscribe(`neighbor-${String(n)}`, 'neighbor');
    void attempt(`neighbor-${String(n)}`);
  }
  await new Promise((resolve) => setImmediate(resolve));
  subscribe('healthy', 'healthy');

  expect(await attempt('healthy')).toMatchObject({ result: { type: 'response', statusCode: 200 } });
});
