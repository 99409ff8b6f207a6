import { resolveBatch, topics, type AvroCodecs, type SubscriptionState } from '@waypost/contracts';
import { readToEnd, StreamsError, type Fetcher, type StreamsBackend } from '@waypost/streams';

export interface StateRecoveryParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
}

/** What predecessors remembered of the subscriptions of a partition, by subscription. */
export const recoverStates = async (
  { backend, codecs }: StateRecoveryParts,
  fetcher: Fetcher,
  partition: number,
): Promise<Map<string, SubscriptionState>> => {
  const states = new Map<string, SubscriptionState>();
  const log = { topic: topics.subscriptionState.name, partition };
  await readToEnd(backend, fetcher, log, 0, async ({ records }) => {
    await resolveBatch(codecs.subscriptionState, records);
    for (const { key, value } of records) {
      const subscriptionId = key?.toString() ?? '';
      if (value === null) states.delete(subscriptionId);
      else states.set(subscriptionId, readState(codecs, value));
    }
  });
  return states;
};

const readState = (codecs: AvroCodecs, value: Buffer): SubscriptionState => {
  const decoded = codecs.subscriptionState.decode(value);
  if (decoded.type === 'decoded') return decoded.value;
  throw new StreamsError(
    'CORRUPT_STATE',
    `A record of ${topics.subscriptionState.name} cannot be read: ${decoded.type}.`,
  );
};
