import { setTimeout as sleep } from 'node:timers/promises';
import { pingOf } from '../../../apps/cli/src/pings/ping-line.js';
import { openPingPublisher, type PingPublisher } from '../../../apps/cli/src/pings/ping-publisher.js';
import type { AppName } from '../../../tools/dev-stack/start/start-flags.js';
import { type Behavior, ok, type Receiver, startReceiver } from '../../support/receiver.js';
import type { AlertStage, App } from './stage.js';

/** What one provocation works with: a fleet, receivers and traffic of its own, which end with it. */
export interface Scene extends AlertStage {
  readonly fleet: string;
  /** The only process of an application, or the first of several. */
  app(name: AppName): App;
  /** As an operator, for a fleet. @throws when it is refused */
  api<T>(method: string, path: string, body?: object, fleet?: string): Promise<T>;
  createFleet(fleet: string): Promise<void>;
  /** A receiver, and subscriptions of a fleet to positions there. */
  receiver(
    behavior?: Behavior,
    options?: { readonly fleet?: string; readonly subscriptions?: number },
  ): Promise<Receiver>;
  /** A position of each of so many devices that were never seen before. */
  publish(devices: number, options?: { readonly fleet?: string; readonly aheadMs?: number }): Promise<void>;
  /** Repeats the work until the provocation is over; a failure of it is part of the fault. */
  keep(everyMs: number, work: () => Promise<unknown>): void;
  /** The process gets a fifth of its CPU until the returned function is called. */
  starve(app: App): () => void;
  onEnd(work: () => unknown): void;
}

const RUN_MS = 200;
const STARVE_MS = 800;
const REQUEST_TIMEOUT_MS = 20_000;

export function openScene(stage: AlertStage, fleet: string): Scene & { close(): Promise<void> } {
  const cleanUps: (() => unknown)[] = [];
  const running: Promise<void>[] = [];
  let isOver = false;
  let device = 0;
  let publisher: PingPublisher | undefined;

  async function loop(everyMs: number, work: () => Promise<unknown>): Promise<void> {
    while (!isOver) {
      // The faults that it goes on beside make it fail now and then; whether the alert fires is what is judged.
      await work().catch(() => undefined);
      await sleep(everyMs);
    }
  }

  const scene: Scene = {
    ...stage,
    fleet,
    app: (name) => stage.apps.find((one) => one.name === name) ?? unknownApp(name),
    api: (method, path, body, ofFleet = fleet) => callAsOperator(stage, { method, path, body, fleet: ofFleet }),
    async createFleet(id) {
      await scene.api('POST', '/public/v1/fleets', { fleetId: id });
    },
    async receiver(behavior = ok, { fleet: ofFleet = fleet, subscriptions = 1 } = {}) {
      const receiver = await startReceiver(behavior, { bodies: 'any' });
      cleanUps.push(() => receiver.close());
      for (let number = 0; number < subscriptions; number += 1) {
        const body = { url: receiver.url(`/${String(number)}`), eventTypes: ['position'] };
        await scene.api('POST', '/public/v1/webhook-subscriptions', body, ofFleet);
      }
      return receiver;
    },
    async publish(devices, { fleet: ofFleet = fleet, aheadMs = 0 } = {}) {
      publisher ??= await openPingPublisher(stage.kafka, { url: stage.registryUrl });
      const eventTime = new Date(Date.now() + aheadMs).toISOString();
      const receivedTime = new Date().toISOString();
      const rows = Array.from({ length: devices }, () => ({
        deviceId: `${ofFleet}-${String((device += 1))}`,
        eventTime,
      }));
      await publisher.publish(
        rows.flatMap((row) => {
          const place = { latitude: 52.1, longitude: 11.6, receivedTime };
          const made = pingOf({ ...row, ...place }, { fleetId: ofFleet, shiftMs: 0, keepReceivedTime: true });
          return made.type === 'ping' ? [made.ping] : [];
        }),
      );
    },
    keep: (everyMs, work) => void running.push(loop(everyMs, work)),
    starve({ instance }) {
      const stopped = new AbortController();
      const starving = (async () => {
        while (!stopped.signal.aborted && !isOver) {
          instance.pause();
          await sleep(STARVE_MS);
          instance.resume();
          await sleep(RUN_MS);
        }
      })();
      running.push(starving);
      return () => stopped.abort();
    },
    onEnd: (work) => void cleanUps.push(work),
  };
  return {
    ...scene,
    async close() {
      isOver = true;
      await Promise.all(running);
      for (const cleanUp of cleanUps) await cleanUp();
      await publisher?.close();
    },
  };
}

function unknownApp(name: string): never {
  throw new Error(`No process of ${name} runs.`);
}

interface OperatorCall {
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
  readonly fleet: string;
}

async function callAsOperator<T>({ waypost, adminKey }: AlertStage, call: OperatorCall): Promise<T> {
  const response = await fetch(new URL(call.path, waypost.info().apiUrl), {
    method: call.method,
    headers: {
      authorization: `Bearer ${adminKey}`,
      'content-type': 'application/json',
      'x-waypost-fleet': call.fleet,
    },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${call.method} ${call.path}: ${String(response.status)} ${text}`);
  return JSON.parse(text) as T;
}
