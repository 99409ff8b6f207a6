import { consumerGroups } from './consumer-groups.js';
import { allTopics, topics } from './topics.js';

export type KafkaOperation = 'READ' | 'WRITE' | 'CREATE' | 'DESCRIBE' | 'DESCRIBE_CONFIGS';

/** An ACL that allows `operations`. DESCRIBE is implied by READ and WRITE, IDEMPOTENT_WRITE by a transactional id. */
export interface KafkaPermission {
  readonly resource: 'topic' | 'group' | 'transactionalId';
  readonly pattern: 'literal' | 'prefixed';
  readonly name: string;
  readonly operations: readonly KafkaOperation[];
}

/** The programs that use Kafka, each of which can have its own user. */
export type KafkaUser = 'telemetry-processor' | 'webhook-delivery' | 'history-projector' | 'public-api' | 'set-up';

interface Named {
  readonly name: string;
}

function onTopics(operations: readonly KafkaOperation[], ...of: readonly Named[]): KafkaPermission[] {
  return of.map(({ name }) => ({ resource: 'topic', pattern: 'literal', name, operations }));
}

function onGroups(...of: readonly { readonly id: string }[]): KafkaPermission[] {
  return of.map(({ id: name }) => ({ resource: 'group', pattern: 'literal', name, operations: ['READ'] }));
}

/** Each partition appends its own id to these prefixes. */
function onTransactionalIds(...prefixes: readonly string[]): KafkaPermission[] {
  return prefixes.map((name) => ({ resource: 'transactionalId', pattern: 'prefixed', name, operations: ['WRITE'] }));
}

function quarantineOf(application: KafkaUser): string {
  return `quarantine.${application}.`;
}

/** What each user needs, and nothing else. A test runs each of them with exactly these. */
export const kafkaPermissions: Readonly<Record<KafkaUser, readonly KafkaPermission[]>> = {
  'telemetry-processor': [
    ...onTopics(['READ'], topics.telemetryPings),
    // Works without DESCRIBE_CONFIGS, but then cannot warn of settings that would lose state.
    ...onTopics(['READ', 'DESCRIBE_CONFIGS'], topics.fleetGeofences, topics.fleetSettings),
    ...onTopics(['READ', 'WRITE', 'DESCRIBE_CONFIGS'], topics.deviceState),
    ...onTopics(['WRITE', 'DESCRIBE_CONFIGS'], topics.fleetEvents, topics.telemetryRejected),
    ...onGroups(consumerGroups.telemetryProcessor),
    ...onTransactionalIds(`${consumerGroups.telemetryProcessor.id}.`, quarantineOf('telemetry-processor')),
  ],
  'webhook-delivery': [
    ...onTopics(['READ'], topics.fleetEvents, topics.webhookReplays),
    ...onTopics(['READ', 'DESCRIBE_CONFIGS'], topics.webhookSubscriptions),
    ...onTopics(['READ', 'WRITE'], topics.webhookDeliveries, topics.webhookAttempts),
    ...onTopics(['READ', 'WRITE', 'DESCRIBE_CONFIGS'], topics.subscriptionState, topics.replayProgress),
    ...onTopics(['WRITE'], topics.webhookOperations, topics.telemetryRejected),
    ...onGroups(consumerGroups.fanOut, consumerGroups.sender, consumerGroups.replayer),
    ...onTransactionalIds(
      `${consumerGroups.fanOut.id}.`,
      `${consumerGroups.sender.id}.`,
      `${consumerGroups.replayer.id}.`,
      quarantineOf('webhook-delivery'),
    ),
  ],
  'history-projector': [
    ...onTopics(['READ'], topics.webhookAttempts, topics.webhookDeliveries, topics.telemetryPings),
    ...onTopics(['WRITE'], topics.telemetryRejected),
    ...onGroups(consumerGroups.historyProjector, consumerGroups.pathProjector, consumerGroups.waitingProjector),
    ...onTransactionalIds(quarantineOf('history-projector')),
  ],
  'public-api': [
    ...onTopics(['READ'], topics.webhookOperations, topics.replayProgress, topics.webhookAttempts),
    ...onTopics(
      ['WRITE'],
      topics.fleetGeofences,
      topics.fleetSettings,
      topics.webhookSubscriptions,
      topics.webhookDeliveries,
      topics.webhookReplays,
      topics.telemetryRejected,
    ),
    ...onGroups(consumerGroups.operationalEvents, consumerGroups.replayProgress),
    ...onTransactionalIds('public-api.outbox', quarantineOf('public-api')),
  ],
  'set-up': onTopics(['CREATE', 'DESCRIBE', 'DESCRIBE_CONFIGS'], ...allTopics),
};
