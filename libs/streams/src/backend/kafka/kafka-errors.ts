/** Kafka's error codes that the runtime decides on; kafkajs puts them into `code` of its protocol errors. */
export const KAFKA_ERROR = {
  none: 0,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeaderOrFollower: 6,
  requestTimedOut: 7,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
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

export const kafkaErrorCode = (error: unknown): number | null => {
  if (typeof error !== 'object' || error === null) return null;
  const { code, cause, originalError } = error as { code?: unknown; cause?: unknown; originalError?: unknown };
  if (typeof code === 'number') return code;
  return kafkaErrorCode(cause ?? originalError ?? null);
};

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

export const isCoordinatorMove = (code: number | null): boolean => code !== null && COORDINATOR_MOVES.has(code);
export const isLeaderMove = (code: number | null): boolean => code !== null && LEADER_MOVES.has(code);
export const isFenced = (code: number | null): boolean => code !== null && FENCED.has(code);

/** No answer came, so nobody knows whether the broker acted. */
export const isConnectionFailure = (error: unknown): boolean => {
  const name = (error as { name?: unknown } | null)?.name;
  return (
    name === 'KafkaJSConnectionError' ||
    name === 'KafkaJSConnectionClosedError' ||
    name === 'KafkaJSRequestTimeoutError' ||
    name === 'KafkaJSBrokerNotFound' ||
    name === 'KafkaJSLockTimeout' ||
    name === 'KafkaJSNumberOfRetriesExceeded'
  );
};
