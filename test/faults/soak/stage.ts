import { EVENT_TYPES } from '@waypost/domain';
import { instanceEnvironment, stackEnvironment } from '../../../tools/dev-stack/start/app-environment.js';
import { type DeliveryStage, openDeliveryStage } from '../delivery/stage.js';
import {
  makeHeldSubscriber,
  makeSubscriber,
  type Subscriber,
  type SubscribersOptions,
} from '../delivery/subscribers.js';
import { type Database, openDatabase } from '../projection/database.js';
import { createProjectors, type Projector, stopProjectors } from '../projection/stage.js';
import type { AppInstance } from '../shared/app-instance.js';
import type { Place } from '../shared/fault-suite.js';
import { createInstance, type KafkaStage, type KafkaStageOptions, openKafkaStage } from '../shared/stage.js';

/** The fleet whose vehicles send pings; the other fleets have events only. */
export const DRIVING_FLEET = 'soak';
const FIRST_DRIVING_NUMBER = 202;

/**
 * The numbers of the instances on the cluster. Faults meet those before SPARED; the others, one of each application, live
 * as long as the run, so that what grows in a process can show.
 */
const NUMBERS = { processors: [0, 1, 5], senders: [2, 3, 6], projectors: [4, 7] } as const;
export const SPARED_FROM = 5;
const INSTANCES = 8;
export const BROKERS = 3;

export type SoakApp = 'telemetry-processor' | 'webhook-delivery' | 'history-projector';

export interface SoakInstance {
  readonly app: SoakApp;
  readonly instance: AppInstance;
}

/** Three brokers, a registry, a database, and three applications with two or three instances each. */
export interface SoakStage extends KafkaStage {
  readonly delivery: DeliveryStage;
  readonly database: Database;
  readonly processors: readonly AppInstance[];
  readonly projectors: readonly Projector[];
  /** All of them, by their numbers. */
  readonly all: readonly SoakInstance[];
  unexpectedExits(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

interface SoakStageOptions extends Pick<KafkaStageOptions, 'earlierSetUp'> {
  /** Whether an endpoint answers 503 until the run ends, for a subscription that holds. */
  readonly withOutage: boolean;
}

/** @param programOf the built main file, asked at every start of an instance */
export async function openSoakStage(
  place: Place,
  programOf: (app: SoakApp, instance: number) => string,
  { earlierSetUp, withOutage }: SoakStageOptions,
): Promise<SoakStage> {
  const kafkaStage = await openKafkaStage(place, { brokers: BROKERS, instances: INSTANCES, earlierSetUp });
  const { cluster } = kafkaStage;
  const shared: KafkaStage = { ...kafkaStage, cluster: { ...cluster, stop: () => Promise.resolve() } };
  const database = await openDatabase(place);
  const exits: string[] = [];
  const processors: AppInstance[] = [];
  for (const number of NUMBERS.processors)
    processors.push(await createProcessor(place, shared, { number, programOf, exits }));
  const delivery = await openDeliveryStage(place, {
    instances: NUMBERS.senders.length,
    on: { kafka: shared, numbers: NUMBERS.senders },
    now: Date.now,
    program: (instance) => programOf('webhook-delivery', instance),
    more: (of) => [...drivingSubscribers(of), ...(withOutage ? [makeHeldSubscriber(of)] : [])],
  });
  const projectors = await createProjectors(place, {
    kafka: shared.kafka,
    registryUrl: shared.registryUrl,
    cluster,
    database,
    numbers: NUMBERS.projectors,
    program: (instance) => programOf('history-projector', instance),
  });
  const all = [
    ...processors.map((instance) => ({ app: 'telemetry-processor' as const, instance })),
    ...delivery.instances.map((instance) => ({ app: 'webhook-delivery' as const, instance })),
    ...projectors.map(({ instance }) => ({ app: 'history-projector' as const, instance })),
  ].sort((a, b) => a.instance.instance - b.instance.instance);
  return {
    ...shared,
    delivery,
    database,
    processors,
    projectors,
    all,
    async unexpectedExits() {
      const ofProjectors = await Promise.all(projectors.map((projector) => projector.unexpectedExits()));
      return [...exits, ...delivery.unexpectedExits, ...ofProjectors.flat()];
    },
    async stop() {
      await Promise.all(processors.map((processor) => processor.kill()));
      await stopProjectors(projectors);
      await delivery.stop();
      await database.close();
      await cluster.stop();
    },
  };
}

interface ProcessorPlan {
  readonly number: number;
  readonly programOf: (app: SoakApp, instance: number) => string;
  readonly exits: string[];
}

function createProcessor(place: Place, stage: KafkaStage, plan: ProcessorPlan): Promise<AppInstance> {
  const { number, programOf, exits } = plan;
  const name = `telemetry-processor-${String(number)}`;
  const kafka = { brokers: stage.cluster.addressesOf(number), clientId: 'waypost' };
  const addresses = { kafka, registryUrl: stage.registry.url, databaseUrl: '' };
  const shared = stackEnvironment(place.env, addresses, { sealingKey: '', pageTokenKey: '', adminKey: '' });
  return createInstance(place, {
    name,
    instance: number,
    program: (instance) => programOf('telemetry-processor', instance),
    env: () => instanceEnvironment(shared, name, { adminPort: 0 }),
    onUnexpectedExit: (what) => void exits.push(`${name}: ${what}`),
  });
}

/** One for every type of event that pings make. */
function drivingSubscribers(options: SubscribersOptions): Subscriber[] {
  return EVENT_TYPES.map((eventType, index) => {
    const number = FIRST_DRIVING_NUMBER + index;
    return makeSubscriber(options, { number, fleet: DRIVING_FLEET, fields: { eventType } });
  });
}
