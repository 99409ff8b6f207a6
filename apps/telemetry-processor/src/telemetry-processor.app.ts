import { createAvroCodecs, createSchemaRegistry } from '@waypost/contracts';
import { createGeofenceHistory } from '@waypost/domain';
import type { AppDefinition, AppRuntime, LifecyclePart } from '@waypost/platform';
import { createKafkaBackend, createStreamsApp } from '@waypost/streams';
import { readConfig, type TelemetryProcessorConfig } from './config.js';
import { createGeofenceDirectory } from './geofences/geofence-directory.js';
import { observeGeofences } from './geofences/geofence-metrics.js';
import { createPingMetrics } from './ping-metrics.js';
import { TelemetryProcessorModule } from './telemetry-processor.module.js';
import { telemetryProcessorTopology } from './telemetry-processor.topology.js';

export const telemetryProcessorApp: AppDefinition<TelemetryProcessorConfig> = {
  name: 'telemetry-processor',
  config: readConfig,
  module: () => TelemetryProcessorModule,
  parts: (_nest, runtime) => streamParts(runtime),
};

const streamParts = ({ config, logger, metrics, onFatal }: AppRuntime<TelemetryProcessorConfig>): LifecyclePart[] => {
  const codecs = createAvroCodecs({ registry: createSchemaRegistry(config.registry) });
  const backend = createKafkaBackend({ kafka: config.kafka, logger, now: Date.now });
  const history = createGeofenceHistory();
  observeGeofences(metrics, history);
  const geofences = createGeofenceDirectory({ backend, codecs, logger, onFatal, history });
  const app = createStreamsApp({
    topology: telemetryProcessorTopology({
      codecs,
      geofences,
      metrics: createPingMetrics(metrics),
      rules: config.rules,
    }),
    backend,
    instanceId: config.process.instanceId,
    stateDir: config.stateDir,
    logger,
    now: Date.now,
    onFatal,
  });
  return [
    {
      name: 'schemas',
      start: async () => {
        await Promise.all(
          [codecs.fleetEvents, codecs.deviceState, codecs.telemetryRejected].map((codec) => codec.prepare()),
        );
      },
      stop: () => undefined,
    },
    { name: 'kafka', start: () => undefined, stop: () => backend.close() },
    // With positions alone nobody asks for one.
    ...(config.rules === 'all'
      ? [{ name: 'geofences', start: () => geofences.start(), stop: () => geofences.stop() }]
      : []),
    { name: 'topology', start: () => app.start(), stop: () => app.stop(), ready: () => app.ready() },
  ];
};
