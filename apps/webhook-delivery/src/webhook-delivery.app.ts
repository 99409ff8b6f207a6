import { type AvroCodecs, createAvroCodecs, createSchemaRegistry } from '@waypost/contracts';
import { createEgressClient, type EgressClient } from '@waypost/egress';
import type { AppDefinition, AppRuntime, LifecyclePart } from '@waypost/platform';
import { createKafkaBackend, type StreamsBackend, type TaskManager } from '@waypost/streams';
import { createAttemptRunner } from './attempt/attempt-runner.js';
import { createBearerTokens } from './attempt/bearer-tokens.js';
import { createDeliveryMetrics, createReplayMetrics, type DeliveryMetrics } from './common/delivery-metrics.js';
import { createFlushScheduler, type FlushIntervals } from './common/flush-scheduler.js';
import { nodeTimers } from './common/timers.js';
import { readConfig, type WebhookDeliveryConfig } from './config.js';
import { createFanOut } from './fan-out/fan-out-runner.js';
import { createReplayer } from './replay/replayer.js';
import { createLaneSettings, ConcurrencyLimiter, type ConcurrencyLimits } from './sender/concurrency-limiter.js';
import type { QueueLimits } from './sender/partition-queues.js';
import { createSender } from './sender/sender-runner.js';
import { createSubscriptionDirectory, type SubscriptionDirectory } from './subscriptions/subscription-directory.js';
import { WebhookDeliveryModule } from './webhook-delivery.module.js';

const IN_FLIGHT: ConcurrencyLimits = { perSubscription: 64, perOrigin: 192, total: 2_048 };
const SENDER_FLUSHES: FlushIntervals = { intervalMs: 4, busyIntervalMs: 10 };
/** Each task writes to every partition of the deliveries, so that they share no requests: fewer beats, then. */
const FAN_OUT_FLUSHES: FlushIntervals = { intervalMs: 8, busyIntervalMs: 12 };
const UNFINISHED: QueueLimits = { perSubscription: 500, total: 20_000, guaranteed: 16 };
/** Longer than an attempt can take: what is in flight when a partition moves or the process stops is not repeated. */
const CLOSE_GRACE_MS = 5_500;
/** Within what an application may take to stop. */
const SENDER_STOP_TIMEOUT_MS = 6_300;

export const webhookDeliveryApp: AppDefinition<WebhookDeliveryConfig> = {
  name: 'webhook-delivery',
  config: readConfig,
  module: () => WebhookDeliveryModule,
  parts: (_nest, runtime) => deliveryParts(runtime),
};

interface Shared {
  readonly runtime: AppRuntime<WebhookDeliveryConfig>;
  readonly codecs: AvroCodecs;
  readonly backend: StreamsBackend;
  readonly directory: SubscriptionDirectory;
  readonly egress: EgressClient;
  readonly metrics: DeliveryMetrics;
}

function deliveryParts(runtime: AppRuntime<WebhookDeliveryConfig>): LifecyclePart[] {
  const { config, logger, metrics, onFatal } = runtime;
  const codecs = createAvroCodecs({ registry: createSchemaRegistry(config.registry) });
  const backend = createKafkaBackend({ kafka: config.kafka, logger, now: Date.now });
  const directory = createSubscriptionDirectory({ backend, codecs, logger, onFatal });
  const egress = createEgressClient({ ...config.egress });
  const shared: Shared = {
    ...{ runtime, codecs, backend, directory, egress },
    metrics: createDeliveryMetrics(metrics),
  };
  return [
    {
      name: 'schemas',
      start: async () => {
        const { webhookDeliveries, webhookAttempts, subscriptionState, webhookOperations, replayProgress } = codecs;
        const written = [webhookDeliveries, webhookAttempts, subscriptionState, webhookOperations, replayProgress];
        await Promise.all(written.map((codec) => codec.prepare()));
      },
      stop: () => undefined,
    },
    { name: 'kafka', start: () => undefined, stop: () => backend.close() },
    { name: 'egress', start: () => undefined, stop: () => egress.close() },
    { name: 'subscriptions', start: () => directory.start(), stop: () => directory.stop() },
    { ...runnerPart('sender', sender(shared)), stopTimeoutMs: SENDER_STOP_TIMEOUT_MS },
    runnerPart('fan-out', fanOut(shared)),
    runnerPart('replayer', replayer(shared)),
  ];
}

function fanOut({ runtime, codecs, backend, directory, metrics }: Shared): TaskManager {
  return createFanOut({
    ...{ backend, codecs, directory, metrics },
    flushScheduler: createFlushScheduler({ timers: nodeTimers, now: Date.now, intervals: FAN_OUT_FLUSHES }),
    instanceId: runtime.config.process.instanceId,
    logger: runtime.logger,
    now: Date.now,
    onFatal: runtime.onFatal,
  });
}

function sender({ runtime, codecs, backend, directory, egress, metrics }: Shared): TaskManager {
  const { config, logger, onFatal } = runtime;
  const { sealingKey } = config;
  const tokens = createBearerTokens({ egress, sealingKey, now: Date.now });
  return createSender({
    backend,
    codecs,
    runner: createAttemptRunner({ directory, egress, tokens, sealingKey, now: Date.now }),
    directory,
    limiter: new ConcurrencyLimiter({
      limits: IN_FLIGHT,
      settings: createLaneSettings(directory),
      timers: nodeTimers,
      now: Date.now,
    }),
    flushScheduler: createFlushScheduler({ timers: nodeTimers, now: Date.now, intervals: SENDER_FLUSHES }),
    timers: nodeTimers,
    metrics,
    logger,
    now: Date.now,
    random: Math.random,
    limits: UNFINISHED,
    closeGraceMs: CLOSE_GRACE_MS,
    instanceId: config.process.instanceId,
    onFatal,
  });
}

function replayer({ runtime, codecs, backend, directory }: Shared): TaskManager {
  return createReplayer({
    backend,
    codecs,
    directory,
    metrics: createReplayMetrics(runtime.metrics),
    logger: runtime.logger,
    now: Date.now,
    maxUnsent: runtime.config.replay.maxUnsent,
    instanceId: runtime.config.process.instanceId,
    onFatal: runtime.onFatal,
  });
}

function runnerPart(name: string, runner: TaskManager): LifecyclePart {
  return {
    name,
    start: () => runner.start(),
    stop: () => runner.stop(),
    ready: () => runner.ready(),
  };
}
