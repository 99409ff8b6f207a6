export { settleOrAbort, waitOrAbort } from '../abort.js';
export type {
  Assignment,
  BaseOffsets,
  FencedWriter,
  Fetcher,
  GroupMember,
  GroupOptions,
  PartitionFeed,
  RebalanceListener,
  Transaction,
  TransactionalProducer,
  TransactionOffset,
} from '../backend/backend.js';
export { readToEnd } from '../backend/log-reader.js';
export { toError } from '../errors.js';
export type { StallWatch } from '../stalls.js';
export { connectKafka, openAdmin } from './kafka-connection.js';
export { untilTopicsKnown } from './topic-admin.js';
