import type { StreamsBackend, TopicPartition } from '@waypost/streams';
import type { PartitionFeed } from '@waypost/streams/admin';

type OpenFeed = (source: TopicPartition, from: number) => PartitionFeed;

/** Lets a test see, or replace, every feed that is opened from now on. @returns a function that ends this */
export function wrapFeeds(
  backend: Pick<StreamsBackend, 'fetcher'>,
  wrap: (source: TopicPartition, from: number, open: OpenFeed) => PartitionFeed,
): () => void {
  const makeFetcher = backend.fetcher.bind(backend);
  backend.fetcher = () => {
    const whole = makeFetcher();
    const open = whole.open.bind(whole);
    return Object.assign(whole, { open: (source: TopicPartition, from: number) => wrap(source, from, open) });
  };
  return () => {
    backend.fetcher = makeFetcher;
  };
}
