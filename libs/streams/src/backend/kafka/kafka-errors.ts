import { errorMessage, StreamsError, type StreamsErrorCode } from '../../errors.js';

/**
 * How to react to an error code of a broker.
 * - `refresh`, `coordinator`, `wait`: nothing was done; but see `isOfFormerLeader`. Repeat after looking up the leader,
 * the coordinator, or neither.
 * - `unsure`: it may have been done. Repeat if that cannot do it twice, otherwise `rebuild`.
 * - `rejoin`, `expelled`: the member joins its group again; after `expelled`, its partitions may have been reassigned.
 * - `fenced`: another process has taken over.
 * - `rebuild`: the task restarts from its last commit; also for every code that is not in the table.
 * - `park`: the partition is parked with the fix. `fatal`: the process ends with the fix.
 */
export type Reaction =
  | 'refresh'
  | 'coordinator'
  | 'wait'
  | 'unsure'
  | 'rejoin'
  | 'expelled'
  | 'fenced'
  | 'rebuild'
  | 'park'
  | 'fatal';

/** `error` is for when repeating does not help or is not tried; absent: PROTOCOL. */
type Row = readonly [code: number, name: string, reaction: Reaction, error?: StreamsErrorCode];

/** Every code that brokers return for our requests, with one reaction wherever it occurs; see `reactionTo`. */
const ROWS: readonly Row[] = [
  [-1, 'UNKNOWN_SERVER_ERROR', 'unsure'],
  [1, 'OFFSET_OUT_OF_RANGE', 'park', 'OFFSET_OUT_OF_RANGE'],
  [2, 'CORRUPT_MESSAGE', 'wait', 'CORRUPT_BATCH'],
  [3, 'UNKNOWN_TOPIC_OR_PARTITION', 'refresh', 'TOPIC_MISSING'],
  [5, 'LEADER_NOT_AVAILABLE', 'refresh'],
  [6, 'NOT_LEADER_OR_FOLLOWER', 'refresh'],
  [7, 'REQUEST_TIMED_OUT', 'unsure'],
  [8, 'BROKER_NOT_AVAILABLE', 'refresh'],
  [9, 'REPLICA_NOT_AVAILABLE', 'refresh'],
  [10, 'MESSAGE_TOO_LARGE', 'park', 'RECORD_TOO_LARGE'],
  [12, 'OFFSET_METADATA_TOO_LARGE', 'park', 'REQUEST_REFUSED'],
  [13, 'NETWORK_EXCEPTION', 'unsure'],
  [14, 'COORDINATOR_LOAD_IN_PROGRESS', 'coordinator'],
  [15, 'COORDINATOR_NOT_AVAILABLE', 'coordinator'],
  [16, 'NOT_COORDINATOR', 'coordinator'],
  [17, 'INVALID_TOPIC_EXCEPTION', 'park', 'REQUEST_REFUSED'],
  [18, 'RECORD_LIST_TOO_LARGE', 'park', 'RECORD_TOO_LARGE'],
  [19, 'NOT_ENOUGH_REPLICAS', 'wait'],
  [20, 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'unsure'],
  [22, 'ILLEGAL_GENERATION', 'expelled'],
  [23, 'INCONSISTENT_GROUP_PROTOCOL', 'fatal', 'GROUP_REFUSED'],
  [24, 'INVALID_GROUP_ID', 'fatal', 'GROUP_REFUSED'],
  [25, 'UNKNOWN_MEMBER_ID', 'expelled'],
  [26, 'INVALID_SESSION_TIMEOUT', 'fatal', 'GROUP_REFUSED'],
  [27, 'REBALANCE_IN_PROGRESS', 'rejoin'],
  [28, 'INVALID_COMMIT_OFFSET_SIZE', 'park', 'REQUEST_REFUSED'],
  [29, 'TOPIC_AUTHORIZATION_FAILED', 'park', 'ACCESS_DENIED'],
  [30, 'GROUP_AUTHORIZATION_FAILED', 'fatal', 'GROUP_REFUSED'],
  [31, 'CLUSTER_AUTHORIZATION_FAILED', 'park', 'ACCESS_DENIED'],
  [32, 'INVALID_TIMESTAMP', 'park', 'INVALID_RECORD'],
  [33, 'UNSUPPORTED_SASL_MECHANISM', 'park', 'ACCESS_DENIED'],
  [34, 'ILLEGAL_SASL_STATE', 'park', 'ACCESS_DENIED'],
  [35, 'UNSUPPORTED_VERSION', 'park', 'REQUEST_REFUSED'],
  [36, 'TOPIC_ALREADY_EXISTS', 'park', 'REQUEST_REFUSED'],
  [37, 'INVALID_PARTITIONS', 'park', 'REQUEST_REFUSED'],
  [38, 'INVALID_REPLICATION_FACTOR', 'park', 'REQUEST_REFUSED'],
  [39, 'INVALID_REPLICA_ASSIGNMENT', 'park', 'REQUEST_REFUSED'],
  [40, 'INVALID_CONFIG', 'park', 'REQUEST_REFUSED'],
  [41, 'NOT_CONTROLLER', 'refresh'],
  [42, 'INVALID_REQUEST', 'rebuild'],
  [43, 'UNSUPPORTED_FOR_MESSAGE_FORMAT', 'park', 'REQUEST_REFUSED'],
  [44, 'POLICY_VIOLATION', 'park', 'REQUEST_REFUSED'],
  [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'rebuild'],
  [46, 'DUPLICATE_SEQUENCE_NUMBER', 'rebuild'],
  [47, 'INVALID_PRODUCER_EPOCH', 'fenced', 'PRODUCER_FENCED'],
  [48, 'INVALID_TXN_STATE', 'rebuild'],
  [49, 'INVALID_PRODUCER_ID_MAPPING', 'fenced', 'PRODUCER_FENCED'],
  [50, 'INVALID_TRANSACTION_TIMEOUT', 'park', 'REQUEST_REFUSED'],
  [51, 'CONCURRENT_TRANSACTIONS', 'wait'],
  [53, 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 'park', 'ACCESS_DENIED'],
  [55, 'OPERATION_NOT_ATTEMPTED', 'wait'],
  [56, 'KAFKA_STORAGE_ERROR', 'refresh'],
  [58, 'SASL_AUTHENTICATION_FAILED', 'park', 'ACCESS_DENIED'],
  [59, 'UNKNOWN_PRODUCER_ID', 'rebuild'],
  [70, 'FETCH_SESSION_ID_NOT_FOUND', 'wait'],
  [71, 'INVALID_FETCH_SESSION_EPOCH', 'wait'],
  [72, 'LISTENER_NOT_FOUND', 'refresh'],
  [74, 'FENCED_LEADER_EPOCH', 'refresh'],
  [75, 'UNKNOWN_LEADER_EPOCH', 'refresh'],
  [76, 'UNSUPPORTED_COMPRESSION_TYPE', 'park', 'REQUEST_REFUSED'],
  [78, 'OFFSET_NOT_AVAILABLE', 'wait'],
  [79, 'MEMBER_ID_REQUIRED', 'rejoin'],
  [81, 'GROUP_MAX_SIZE_REACHED', 'fatal', 'GROUP_REFUSED'],
  [82, 'FENCED_INSTANCE_ID', 'fatal', 'INSTANCE_FENCED'],
  [87, 'INVALID_RECORD', 'park', 'INVALID_RECORD'],
  [88, 'UNSTABLE_OFFSET_COMMIT', 'wait'],
  [89, 'THROTTLING_QUOTA_EXCEEDED', 'wait'],
  [90, 'PRODUCER_FENCED', 'fenced', 'PRODUCER_FENCED'],
  [100, 'UNKNOWN_TOPIC_ID', 'refresh'],
  [103, 'INCONSISTENT_TOPIC_ID', 'refresh'],
  [106, 'FETCH_SESSION_TOPIC_ID_ERROR', 'wait'],
  [120, 'TRANSACTION_ABORTABLE', 'rebuild'],
];

const LOGIN_FIX = 'Check mechanism, name and password of the login (sasl), and what this listener offers.';

const FIXES: Readonly<Record<string, string>> = {
  OFFSET_OUT_OF_RANGE:
    "It is no longer in the log: records were deleted before they were read. Raise the topic's retention and decide from where to go on.",
  CORRUPT_MESSAGE: "Check the broker's disk.",
  UNKNOWN_TOPIC_OR_PARTITION: 'It is gone: create the topic again.',
  MESSAGE_TOO_LARGE: 'Raise max.message.bytes of the topic, or skip the record.',
  OFFSET_METADATA_TOO_LARGE: "Raise the broker's offset.metadata.max.bytes.",
  INVALID_TOPIC_EXCEPTION: 'The name of the topic is not valid: choose another.',
  RECORD_LIST_TOO_LARGE: 'Raise max.message.bytes of the topic.',
  INCONSISTENT_GROUP_PROTOCOL:
    'Its members use another protocol: end those that are no instances of this application, or use another group.',
  INVALID_GROUP_ID: 'The name of the group is not valid: choose another.',
  INVALID_SESSION_TIMEOUT:
    "The session timeout is outside of the broker's group.min.session.timeout.ms and group.max.session.timeout.ms.",
  INVALID_COMMIT_OFFSET_SIZE: 'Shorten the metadata of the position.',
  TOPIC_AUTHORIZATION_FAILED: 'Grant this user READ on what it reads, WRITE on the rest.',
  GROUP_AUTHORIZATION_FAILED: 'Grant this user READ on the group.',
  CLUSTER_AUTHORIZATION_FAILED: 'Grant this user IDEMPOTENT_WRITE on the cluster.',
  INVALID_TIMESTAMP:
    'Set the clock or the forwarded timestamp right, or raise message.timestamp.before.max.ms and .after.max.ms of the topic.',
  UNSUPPORTED_SASL_MECHANISM: LOGIN_FIX,
  ILLEGAL_SASL_STATE: LOGIN_FIX,
  SASL_AUTHENTICATION_FAILED: LOGIN_FIX,
  INVALID_PARTITIONS: 'Create it with at least one partition.',
  INVALID_REPLICATION_FACTOR: 'There are fewer brokers than replicas: lower the replication factor.',
  INVALID_CONFIG: 'A setting of the topic is not valid: the broker names it in its log.',
  UNSUPPORTED_VERSION: 'The broker is too old or too new for this client.',
  UNSUPPORTED_FOR_MESSAGE_FORMAT: 'Raise the message format of the topic to v2.',
  POLICY_VIOLATION: 'A policy of the broker forbids it: ask who runs the brokers.',
  INVALID_TRANSACTION_TIMEOUT: "Lower transactionTimeoutMs to the broker's transaction.max.timeout.ms.",
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: 'Grant this user WRITE on the transactional id.',
  UNSUPPORTED_COMPRESSION_TYPE: 'Change compression.type of the topic.',
  GROUP_MAX_SIZE_REACHED: "The group is full: raise the broker's group.max.size or run fewer instances.",
  FENCED_INSTANCE_ID: 'Another process joined the group with this instance id: give each instance an id of its own.',
  INVALID_RECORD: 'A compacted topic takes no record without a key: forward one.',
};

export const KAFKA_ERRORS = ROWS.map(([code, name, reaction, error]) => ({ code, name, reaction, error }));

const BY_CODE = new Map(KAFKA_ERRORS.map((row) => [row.code, row]));

export const NO_ERROR = 0;
export const OFFSET_OUT_OF_RANGE = 1;
export const UNKNOWN_TOPIC_OR_PARTITION = 3;
export const UNKNOWN_MEMBER_ID = 25;
export const INVALID_TXN_STATE = 48;
export const CONCURRENT_TRANSACTIONS = 51;
export const OPERATION_NOT_ATTEMPTED = 55;
export const FENCED_LEADER_EPOCH = 74;
export const MEMBER_ID_REQUIRED = 79;

export function kafkaError(code: number): (typeof KAFKA_ERRORS)[number] {
  return BY_CODE.get(code) ?? { code, name: 'an unexpected code', reaction: 'rebuild', error: undefined };
}

export function reactionTo(code: number | null): Reaction | null {
  return code === null ? null : kafkaError(code).reaction;
}

/** The authorization errors of a topic, a group, the cluster and a transactional id. */
export function isDenial(code: number): boolean {
  return [29, 30, 31, 53].includes(code);
}

/** What a leader answers that has lost its partition or its disk, perhaps after it had appended the batch. */
export function isOfFormerLeader(code: number): boolean {
  return [6, 56].includes(code);
}

const UNDONE: readonly (Reaction | null)[] = ['refresh', 'coordinator', 'wait'];

/** Whether the broker certainly did nothing; a retry may succeed. */
export function isUndone(code: number | null): boolean {
  return UNDONE.includes(reactionTo(code));
}

/** Whether to repeat a request that may be done twice. */
export function isRepeatable(code: number | null): boolean {
  return isUndone(code) || reactionTo(code) === 'unsure';
}

export function kafkaErrorCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, message, cause, originalError } = error as Partial<Record<string, unknown>>;
  if (code === KAFKAJS_UNKNOWN_CODE) return Number(/-?\d+$/.exec(String(message))?.[0] ?? code);
  if (typeof code === 'number') return code;
  return kafkaErrorCode(cause ?? originalError ?? null);
}

/** kafkajs knows no code above 88, and has the broker's code in the message. */
const KAFKAJS_UNKNOWN_CODE = -99;

/** Whether no response came, so it is unknown if the broker acted. */
export function isConnectionFailure(error: unknown): boolean {
  const isOurs = error instanceof StreamsError && error.code === 'BROKER_UNAVAILABLE';
  return isOurs || CONNECTION_FAILURES.has((error as { name?: unknown } | null)?.name);
}

const CONNECTION_FAILURES = new Set<unknown>([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSLockTimeout',
  'KafkaJSNumberOfRetriesExceeded',
]);

/** @returns `error` if a broker did respond: kafkajs wraps its error code in the same error as a lost connection */
export function unavailableOr(error: unknown, what: string): unknown {
  if (error instanceof StreamsError || !isConnectionFailure(error) || kafkaErrorCode(error) !== null) return error;
  const message = `${what}: no broker responds (${errorMessage(error)}). Look after the brokers, and the network to them.`;
  return new StreamsError('BROKER_UNAVAILABLE', message, { cause: error });
}

/** kafkajs gives no code for it. @returns `error` if it is something else */
export function loginRefusalOr(error: unknown): unknown {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth++) {
    const { name, cause, originalError, message } = at as Partial<Record<string, unknown>>;
    if (name === 'KafkaJSSASLAuthenticationError')
      return new StreamsError('ACCESS_DENIED', `The login was refused: ${String(message)}. ${LOGIN_FIX}`, {
        cause: error,
      });
    at = cause ?? originalError;
  }
  return error;
}

export function refusal(what: string, code: number, cause?: unknown, fix = FIXES[kafkaError(code).name]): StreamsError {
  const { name, error = 'PROTOCOL' } = kafkaError(code);
  const message = `${what} was refused with ${name} (${String(code)}).`;
  return new StreamsError(error, fix === undefined ? message : `${message} ${fix}`, { cause });
}

/**
 * Returns the error that parks a partition if the broker's code does, else the error itself.
 * @param isOver the request will not be repeated: a code that was worth repeating parks too, if there is a fix
 */
export function parkingOr(error: unknown, what: string, isOver = false): unknown {
  const code = kafkaErrorCode(error);
  if (error instanceof StreamsError || code === null) return error;
  const parks = reactionTo(code) === 'park' || (isOver && isUndone(code) && kafkaError(code).error !== undefined);
  return parks ? refusal(what, code, error) : error;
}

/** Whether the broker refused for certain: neither the outcome nor the state of a producer is in doubt. */
export function isRefusal(error: unknown): error is StreamsError {
  return error instanceof NotWritten || (error instanceof StreamsError && REFUSALS.has(error.code));
}

/** No leader has taken a write, and more retries would take too long. */
export class NotWritten extends StreamsError {
  constructor(what: string, cause: unknown) {
    super('BROKER_UNAVAILABLE', `${what}: no leader takes it (${errorMessage(cause)}). Look after the brokers.`, {
      cause,
    });
  }
}

const REFUSALS = new Set(
  KAFKA_ERRORS.filter(({ reaction }) => reaction === 'park' || UNDONE.includes(reaction)).map(({ error }) => error),
);

/** The error that ends the membership for good; null: a retry may succeed. */
export function groupRefusal(error: unknown, groupId: string, instanceId: string | undefined): StreamsError | null {
  const code = kafkaErrorCode(error);
  const reaction = reactionTo(code);
  if (code === null || (reaction !== 'fatal' && reaction !== 'park')) return null;
  const { code: errorCode, message } = refusal(`This member (${instanceId ?? 'no instance id'}) of ${groupId}`, code);
  return new StreamsError(reaction === 'fatal' ? errorCode : 'GROUP_REFUSED', message, { cause: error });
}
