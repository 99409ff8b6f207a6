import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Output } from '@waypost/client';
import { useClient } from '../session/session.js';
import { DAY_MS } from '../shared/clock.js';
import { RowSkeleton } from '../shared/skeleton.js';
import { Outdated } from '../shared/states.js';
import { countText } from '../shared/time-text.js';
import { OperationsFailure } from './not-configured.js';
import { UnansweredNotice } from './unanswered.js';

type Topic = Output<'listTopics'>['data'][number];

const EVERY_MS = 5_000;

/** What is kept in Kafka, and how far those who read it are. */
export function TopicsPage() {
  const client = useClient();
  const { data, error, dataUpdatedAt, isPending, refetch } = useQuery({
    queryKey: ['topics'],
    queryFn: ({ signal }) => client.listTopics({}, { signal }),
    refetchInterval: EVERY_MS,
  });
  return (
    <>
      <div className="title">
        <h1>Topics</h1>
        {data && (error ? <Outdated error={error} sinceMs={dataUpdatedAt} /> : <span className="live">Live</span>)}
      </div>
      {isPending && <RowSkeleton />}
      {error && !data && <OperationsFailure error={error} retry={() => void refetch()} />}
      {data && (
        <>
          <UnansweredNotice unanswered={data.unanswered} />
          <TopicTable topics={data.data} />
          <p className="hint">
            Waiting records are counted at the last batch of each partition. Retention is as created by set-up:{' '}
            <code>npm run waypost -- doctor</code> compares it with the brokers.
          </p>
        </>
      )}
    </>
  );
}

function TopicTable({ topics }: { readonly topics: readonly Topic[] }) {
  return (
    <div className="table scrolls dense topics" role="region" aria-label="Topics" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Topic</th>
            <th scope="col" className="minor">
              Kept
            </th>
            <th scope="col">Consumer</th>
            <th scope="col" className="number minor">
              Partitions
            </th>
            <th scope="col" className="number">
              Parked
            </th>
            <th scope="col" className="number">
              Waiting records
            </th>
          </tr>
        </thead>
        <tbody>
          {topics.map((topic) => (
            <TopicRows key={topic.name} topic={topic} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Between the parts of a key, as the topics name it. */
const UNIT_SEPARATOR = ' U+001F ';

/** A line per consumer, under one name. */
function TopicRows({ topic: { name, key, usedBy, retentionMs, consumers } }: { readonly topic: Topic }) {
  const lines = Math.max(1, consumers.length);
  return Array.from({ length: lines }, (_, index) => {
    const consumer = consumers[index];
    return (
      <tr key={index}>
        {index === 0 && (
          <>
            <th scope="rowgroup" rowSpan={lines} className="topic-name" title={usedBy}>
              {name}
              <span className="hint">by {key.replace(UNIT_SEPARATOR, ', ')}</span>
            </th>
            <td rowSpan={lines} className="minor">
              {retentionMs === undefined ? 'newest per key' : `${String(retentionMs / DAY_MS)} days`}
            </td>
          </>
        )}
        {consumer === undefined ? (
          <td colSpan={4} className="hint">
            read as a table, or by tools
          </td>
        ) : (
          <>
            <td className="text">{consumer.group}</td>
            <td className="number minor">{consumer.partitions}</td>
            <td className="number">
              {consumer.parked === 0 ? (
                '0'
              ) : (
                <Link href="/partitions" className="bad">
                  {consumer.parked}
                </Link>
              )}
            </td>
            <td className="number">{countText(consumer.lagRecords)}</td>
          </>
        )}
      </tr>
    );
  });
}
