import { type TopicDefinition, topics } from '@waypost/contracts';
import { partitionForKey } from '@waypost/streams';

/** Separates the fleet from the device in the key of a device's state. */
const UNIT_SEPARATOR = '\u001f';

/**
 * What a new set of topics needs to continue. Everything else in the log is a record of finished work, or names
 * offsets, which are meaningless in other topics.
 */
export const MOVED_TOPICS: readonly TopicDefinition[] = [
  // First: after an interrupted import telemetry-processor refuses to start without a position, not without state.
  topics.deviceState,
  topics.fleetSettings,
  topics.fleetGeofences,
  topics.webhookSubscriptions,
];

/** The state of a device belongs where its pings go: these have the device as their key, without its fleet. */
export function partitionIn({ name }: Pick<TopicDefinition, 'name'>, key: string, partitions: number): number {
  const partitionKey = name === topics.deviceState.name ? key.slice(key.indexOf(UNIT_SEPARATOR) + 1) : key;
  return partitionForKey(Buffer.from(partitionKey), partitions);
}
