import type { AvroCodecs } from '@waypost/contracts';
import type { RuleSet } from '@waypost/domain';
import { topologyOf, type Traces } from '@waypost/platform';
import { NO_TRACES } from '@waypost/platform/testing';
import type { Topology } from '@waypost/streams';
import type { FleetDirectory } from '../../fleets/fleet-directory.js';
import type { PingMetrics } from '../ping-metrics.js';
import { PingsController } from '../pings.controller.js';
import { PingsTopology } from '../pings.topology.js';

export interface PingTopologyDeps {
  readonly codecs: AvroCodecs;
  readonly fleets: Pick<FleetDirectory, 'fleet' | 'knownCount' | 'caughtUp'>;
  readonly metrics: PingMetrics;
  /** Default: all. */
  readonly rules?: RuleSet;
  /** Default: none. */
  readonly traces?: Traces;
}

/** The handler of the pings, for a TopologyTestDriver. */
export function pingTopology({ codecs, fleets, metrics, rules = 'all', traces }: PingTopologyDeps): Topology {
  const controller = new PingsController(codecs, fleets, metrics, { rules }, traces ?? NO_TRACES);
  return topologyOf(new PingsTopology(codecs), (slice, context) => controller.decide(slice, context));
}
