import { resolveBatch, type SubjectCodec, type TopicDefinition } from '@waypost/contracts';
import {
  createGlobalTable,
  StreamsError,
  type GlobalTable,
  type StreamsBackend,
  type StreamsLogger,
} from '@waypost/streams';

export interface VersionsTableOptions<Value> {
  readonly backend: StreamsBackend;
  readonly topic: Pick<TopicDefinition, 'name'>;
  readonly codec: SubjectCodec<Value>;
  /** The next record, in the order of the log. null: deleted; `appendedAt` is the broker's time, epoch milliseconds. */
  readonly take: (key: string, value: Value | null, appendedAt: number) => void;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
}

/** Follows a topic of versions, of which each ping sees those of its time (decisions 0028 and 0030). */
export const createVersionsTable = <Value>(options: VersionsTableOptions<Value>): GlobalTable => {
  const { backend, topic, codec, take, logger, onFatal } = options;
  return createGlobalTable({
    ...{ backend, logger, onFatal },
    topic: topic.name,
    prepare: (records) => resolveBatch(codec, records),
    onRecord: (key, bytes, { timestamp }) => {
      take(key.toString(), bytes === null ? null : readVersion(options, bytes), timestamp);
    },
  });
};

const readVersion = <Value>({ topic, codec }: VersionsTableOptions<Value>, bytes: Buffer): Value => {
  const decoded = codec.decode(bytes);
  if (decoded.type === 'decoded') return decoded.value;
  throw new StreamsError('CORRUPT_STATE', `A record of ${topic.name} cannot be read: ${decoded.type}.`);
};
