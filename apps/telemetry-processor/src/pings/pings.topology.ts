import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs, consumerGroups, topics } from '@waypost/contracts';
import { CODECS, type StreamDefinition } from '@waypost/platform';
import type { StoreDefinition } from '@waypost/streams';
import { deviceStateStore, type DeviceStore } from './device-state.store.js';

/**
 * telemetry.pings -> rules -> fleet.events, telemetry.rejected; state in telemetry-processor.device-state.
 * Every output goes to the partition of its input, so each partition has one writer and keeps the order.
 */
@Injectable()
export class PingsTopology implements StreamDefinition {
  readonly applicationId = consumerGroups.telemetryProcessor.id;
  readonly source = topics.telemetryPings.name;
  readonly stores: { readonly devices: StoreDefinition<DeviceStore> };
  readonly sinks = {
    events: { topic: topics.fleetEvents.name, partitioner: 'source-partition' },
    rejected: { topic: topics.telemetryRejected.name, partitioner: 'source-partition' },
  } as const;

  constructor(@Inject(CODECS) codecs: AvroCodecs) {
    this.stores = { devices: deviceStateStore(codecs) };
  }
}
