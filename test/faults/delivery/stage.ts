import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { startWorker, type Worker } from '../../../bench/shared/processes/worker.js';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { instanceEnvironment, stackEnvironment } from '../../../tools/dev-stack/start/app-environment.js';
import type { AppInstance } from '../shared/app-instance.js';
import type { Place } from '../shared/fault-suite.js';
import { createInstance, type KafkaStage, openKafkaStage } from '../shared/stage.js';
import type { Interruption } from './judge/observations.js';
import type { ReceiverRequest } from './recording-receiver.js';
import { makeSubscribers, openSubscriberPublisher, type Subscriber, type SubscribersOptions } from './subscribers.js';
import { senderAddress, watchedInstance } from './watched-instance.js';

/** A line for each POST, as the receiver writes them. */
export const RECEIPTS_FILE = 'receipts.jsonl';

export interface DeliveryStageOptions {
  readonly instances: number;
  /** The built main file of webhook-delivery; a function is asked at every start of a process. */
  readonly program: string | ((instance: number) => string);
  /** A cluster that other applications use too, and the numbers that the instances have there; absent: one of its own. */
  readonly on?: { readonly kafka: KafkaStage; readonly numbers: readonly number[] };
  /** Subscriptions beside the usual ones. */
  readonly more?: (options: SubscribersOptions) => readonly Subscriber[];
  readonly now: () => number;
  /** Every delivery is over within some seconds. */
  readonly brief?: boolean;
}

/** A broker with topics and subscriptions, the receiver, and the instances of webhook-delivery that may run. */
export interface DeliveryStage extends KafkaStage {
  readonly instances: readonly AppInstance[];
  readonly subscribers: readonly Subscriber[];
  readonly receiver: Worker;
  /** A file of the run's folder. */
  file(name: string): string;
  /** What has happened to processes so far. */
  readonly interruptions: readonly Interruption[];
  /** Ends of processes that nothing has asked for. */
  readonly unexpectedExits: readonly string[];
  /** Notes that these instances are cut off from the broker, until the returned function is called. */
  readonly cutOff: (instances: readonly number[]) => () => void;
  stop(): Promise<void>;
}

const SOURCE_ADDRESS = 'test/faults/delivery/source-address.mjs';
const LOADER = 'test/support/typescript-loader.mjs';
/** Refuses: no program here listens on it, and none is given it, as may happen to a port that was free a moment ago. */
const CLOSED_PORT = 9;

export async function openDeliveryStage(place: Place, options: DeliveryStageOptions): Promise<DeliveryStage> {
  const { dataDir, guardian, env } = place;
  const stage = options.on?.kafka ?? (await openKafkaStage(place, { brokers: 1, instances: options.instances }));
  const { registry, cluster } = stage;

  const sealingKey = randomBytes(32);
  const ports = { port: await dataDir.port('receiver'), closedPort: CLOSED_PORT };
  const wanted = { ...ports, sealingKey, brief: options.brief === true };
  const subscribers = [...makeSubscribers(wanted), ...(options.more?.(wanted) ?? [])];
  const publisher = await openSubscriberPublisher(stage);
  await publisher.publish(subscribers);
  await publisher.close();
  const receiver = startWorker({
    name: 'receiver',
    program: projectFile('test/faults/delivery/receiver-process.js'),
    guardian,
    logsDir: dataDir.logsDir,
    env: { ...defined(env), NODE_OPTIONS: preload(LOADER) },
  });
  const endpoints = subscribers.flatMap((one) => {
    const { subscription, path, behavior, secret, nextSecret, needsToken } = one;
    const endpoint = { path, subscriptionId: subscription.id, behavior, secret, nextSecret, needsToken };
    const url = one.change?.(0)?.url;
    return url === undefined ? [endpoint] : [endpoint, { ...endpoint, path: new URL(url).pathname }];
  });
  await receiver.ask({
    type: 'open',
    port: ports.port,
    file: dataDir.file(RECEIPTS_FILE),
    endpoints,
  } satisfies ReceiverRequest);

  const interruptions: Interruption[] = [];
  const unexpectedExits: string[] = [];
  const keys = { sealingKey: sealingKey.toString('base64'), pageTokenKey: '', adminKey: '' };
  const senders: Sender[] = [];
  const numbers = options.on?.numbers ?? Array.from({ length: options.instances }, (_, number) => number);
  for (const instance of numbers) {
    const kafka = { brokers: cluster.addressesOf(instance), clientId: 'waypost' };
    const shared = stackEnvironment(env, { kafka, registryUrl: registry.url, databaseUrl: '' }, keys);
    senders.push(await createSender(place, { ...options, shared, interruptions, unexpectedExits, instance }));
  }
  const instances = senders.map(({ instance }) => instance);
  return {
    ...stage,
    instances,
    subscribers,
    receiver,
    interruptions,
    unexpectedExits,
    file: (name) => dataDir.file(name),
    cutOff: (cutOffInstances) => {
      // One that stops still finishes what it has sent, and cannot log it then.
      const runs = ({ up, isStopping }: AppInstance): boolean => up || isStopping;
      const cut = senders.filter(({ instance }) => runs(instance) && cutOffInstances.includes(instance.instance));
      const [atMs, sources] = [options.now(), cut.map((sender) => sender.sourceNow())];
      return () => {
        const resumedMs = options.now();
        const times = { atMs, resumedMs, endedMs: resumedMs + CUT_OFF_FOR_MORE_MS };
        interruptions.push(...sources.map((source) => ({ type: 'cut-off' as const, source, ...times })));
      };
    },
    async stop() {
      await Promise.all(instances.map((one) => one.kill()));
      receiver.stop();
      await cluster.stop();
    },
  };
}

interface SenderOptions extends Pick<DeliveryStageOptions, 'program' | 'now'> {
  readonly instance: number;
  readonly shared: Place['env'];
  readonly interruptions: Interruption[];
  readonly unexpectedExits: string[];
}

interface Sender {
  readonly instance: AppInstance;
  readonly sourceNow: () => string;
}

/** By then the group has reported whether its partitions belong to others. */
const CUT_OFF_FOR_MORE_MS = 12_000;

async function createSender(place: Place, options: SenderOptions): Promise<Sender> {
  const { instance, shared, program, interruptions, unexpectedExits, now } = options;
  const name = `webhook-delivery-${String(instance)}`;
  let source = '';
  let starts = 0;
  const bare = await createInstance(place, {
    name,
    instance,
    program,
    onUnexpectedExit: (what) => void unexpectedExits.push(what),
    env: () => {
      source = senderAddress(instance, starts);
      starts += 1;
      const own = instanceEnvironment(shared, name, { adminPort: 0 });
      return { ...own, WAYPOST_TEST_SOURCE_ADDRESS: source, NODE_OPTIONS: preload(SOURCE_ADDRESS) };
    },
  });
  const sourceNow = (): string => source;
  const onInterrupted = (one: Interruption): void => void interruptions.push(one);
  return { instance: watchedInstance(bare, { sourceNow, now, onInterrupted }), sourceNow };
}

function preload(file: string): string {
  return `--import=${pathToFileURL(projectFile(file)).href}`;
}

function defined(env: Place['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
