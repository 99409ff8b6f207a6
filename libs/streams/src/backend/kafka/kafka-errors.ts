import { StreamsError } from '../../errors.js';

/** Kafka's error codes that the runtime decides on; kafkajs puts them into `code` of its protocol errors. */
export const KAFKA_ERROR = {
  none: 0,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeaderOrFollower: 6,
  requestTimedOut: 7,
  messageTooLarge: 10,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  recordListTooLarge: 18,
  notEnoughReplicas: 19,
  notEnoughReplicasAfterAppend: 20,
  illegalGeneration: 22,
  unknownMemberId: 25,
  rebalanceInProgress: 27,
  topicAuthorizationFailed: 29,
  invalidProducerEpoch: 47,
  invalidProducerIdMapping: 49,
  concurrentTransactions: 51,
  fencedLeaderEpoch: 74,
  unknownLeaderEpoch: 75,
  memberIdRequired: 79,
  fencedInstanceId: 82,
  producerFenced: 90,
} as const;

export function kafkaErrorCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, cause, originalError } = error as { code?: unknown; cause?: unknown; originalError?: unknown };
  if (typeof code === 'number') return code;
  return kafkaErrorCode(cause ?? originalError ?? null);
}

const COORDINATOR_MOVES = new Set<number>([
  KAFKA_ERROR.coordinatorLoadInProgress,
  KAFKA_ERROR.coordinatorNotAvailable,
  KAFKA_ERROR.notCoordinator,
]);

const LEADER_MOVES = new Set<number>([
  KAFKA_ERROR.unknownTopicOrPartition,
  KAFKA_ERROR.leaderNotAvailable,
  KAFKA_ERROR.notLeaderOrFollower,
  KAFKA_ERROR.fencedLeaderEpoch,
  KAFKA_ERROR.unknownLeaderEpoch,
]);

const FENCED = new Set<number>([
  KAFKA_ERROR.invalidProducerEpoch,
  KAFKA_ERROR.invalidProducerIdMapping,
  KAFKA_ERROR.producerFenced,
]);

export function isCoordinatorMove(code: number | null): boolean {
  return code !== null && COORDINATOR_MOVES.has(code);
}
export function isLeaderMove(code: number | null): boolean {
  return code !== null && LEADER_MOVES.has(code);
}
export function isFenced(code: number | null): boolean {
  return code !== null && FENCED.has(code);
}

/** No response came, so it is unknown whether the broker acted. */
export function isConnectionFailure(error: unknown): boolean {
  const name = (error as { name?: unknown } | null)?.name;
  return (
    name === 'KafkaJSConnectionError' ||
    name === 'KafkaJSConnectionClosedError' ||
    name === 'KafkaJSRequestTimeoutError' ||
    name === 'KafkaJSBrokerNotFound' ||
    name === 'KafkaJSLockTimeout' ||
    name === 'KafkaJSNumberOfRetriesExceeded'
  );
}

/** Group errors that no retry can resolve, each with its fix. */
const FIXES = new Map<number, string>([
  [23, 'Its members use another protocol: end those that are no instances of this application, or use another group.'],
  [24, 'The name of the group is not valid.'],
  [26, "The session timeout is outside of the broker's group.min.session.timeout.ms and group.max.session.timeout.ms."],
  [30, 'This user may not read as this group: grant it READ on the group.'],
  [81, "The group is full: raise the broker's group.max.size or run fewer instances."],
]);

/** The error that ends the membership for good; null: a retry may succeed. */
export function groupRefusal(error: unknown, groupId: string, instanceId: string | undefined): StreamsError | null {
  const code = kafkaErrorCode(error);
  if (code === KAFKA_ERROR.fencedInstanceId) {
    return new StreamsError(
      'INSTANCE_FENCED',
      `Another process joined the group as instance ${instanceId ?? ''}. Give each instance an id of its own.`,
      { cause: error },
    );
  }
  const fix = code === null ? undefined : FIXES.get(code);
  if (fix === undefined) return null;
  return new StreamsError('GROUP_REFUSED', `The group ${groupId} refuses this member. ${fix}`, { cause: error });
}
