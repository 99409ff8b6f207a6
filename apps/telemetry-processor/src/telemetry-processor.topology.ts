import { consumerGroups, topics, type AvroCodecs } from '@waypost/contracts';
import { createTopology } from '@waypost/streams';
import type { RuleSet } from './config.js';
import { deviceStateStore } from './device-state.store.js';
import type { FleetDirectory } from './fleets/fleet-directory.js';
import type { PingMetrics } from './metrics.js';
import { PingProcessor } from './ping.processor.js';

export interface TopologyParts {
  readonly codecs: AvroCodecs;
  readonly fleets: Pick<FleetDirectory, 'fleet' | 'knownCount' | 'caughtUp'>;
  readonly metrics: PingMetrics;
  /** Default: all. */
  readonly rules?: RuleSet;
}

/**
 * telemetry.pings -> rules -> fleet.events, telemetry.rejected; state in telemetry-processor.device-state.
 * Every output goes to the partition of its input, so each partition has one writer and keeps the order.
 */
export const telemetryProcessorTopology = ({ codecs, fleets, metrics, rules = 'all' }: TopologyParts) =>
  createTopology({
    applicationId: consumerGroups.telemetryProcessor.id,
    source: topics.telemetryPings.name,
    stores: { devices: deviceStateStore(codecs) },
    sinks: {
      events: { topic: topics.fleetEvents.name, partitioner: 'source-partition' },
      rejected: { topic: topics.telemetryRejected.name, partitioner: 'source-partition' },
    },
    processor: (context) => new PingProcessor({ context, codecs, fleets, metrics, rules }),
  });
