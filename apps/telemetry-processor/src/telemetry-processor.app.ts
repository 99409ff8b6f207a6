import { createAvroCodecs, createSchemaRegistry } from '@waypost/contracts';
import { createFleetSettingsHistory, createGeofenceHistory } from '@waypost/domain';
import type { AppDefinition, AppRuntime, LifecyclePart } from '@waypost/platform';
import { createKafkaBackend, createStreamsApp } from '@waypost/streams';
import { readConfig, type TelemetryProcessorConfig } from './config.js';
import { createFleetDirectory } from './fleets/fleet-directory.js';
import { createPingMetrics, observeGeofences } from './metrics.js';
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
  const histories = { geofences: createGeofenceHistory(), settings: createFleetSettingsHistory() };
  observeGeofences(metrics, histories.geofences);
  const fleets = createFleetDirectory({ backend, codecs, logger, onFatal, histories });
  const app = createStreamsApp({
    topology: telemetryProcessorTopology({
      codecs,
      fleets,
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
    ...(config.rules === 'all' ? [{ name: 'fleets', start: () => fleets.start(), stop: () => fleets.stop() }] : []),
    { name: 'topology', start: () => app.start(), stop: () => app.stop(), ready: () => app.ready() },
  ];
};
