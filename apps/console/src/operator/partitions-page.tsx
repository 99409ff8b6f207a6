import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useClient } from '../session/session.js';
import { Segments } from '../shared/segments.js';
import { RowSkeleton } from '../shared/skeleton.js';
import { Empty, Outdated } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { countText } from '../shared/time-text.js';
import { OperationsFailure } from './not-configured.js';
import { ParkedPartition } from './parked-partition.js';
import type { Task } from './task.js';
import { UnansweredNotice } from './unanswered.js';

const EVERY_MS = 2_000;
const VIEWS = [
  { value: 'parked', title: 'Parked' },
  { value: 'all', title: 'All' },
] as const;

/** The partitions of all instances: first of all those that cannot continue. */
export function PartitionsPage() {
  const client = useClient();
  const [view, setView] = useState<(typeof VIEWS)[number]['value']>('parked');
  const { data, error, dataUpdatedAt, isPending, refetch } = useQuery({
    queryKey: ['tasks'],
    queryFn: ({ signal }) => client.listTasks({}, { signal }),
    refetchInterval: EVERY_MS,
  });
  const parked = data?.data.filter(({ state }) => state === 'parked') ?? [];
  return (
    <>
      <div className="title">
        <h1>Partitions</h1>
        {data && (error ? <Outdated error={error} sinceMs={dataUpdatedAt} /> : <span className="live">Live</span>)}
        <Segments label="View" options={VIEWS} value={view} onChange={setView} />
      </div>
      {isPending && <RowSkeleton />}
      {error && !data && <OperationsFailure error={error} retry={() => void refetch()} />}
      {data && <UnansweredNotice unanswered={data.unanswered} />}
      {data && view === 'parked' && parked.length === 0 && (
        <Empty title="No partition is parked">
          <p>
            All {countText(data.data.length)} that are shown go on. One that cannot is parked alone, and is listed here
            with its reason.
          </p>
        </Empty>
      )}
      {view === 'parked' && parked.map((task) => <ParkedPartition key={task.task} task={task} />)}
      {data && view === 'all' && <TaskTable tasks={data.data} />}
    </>
  );
}

function TaskTable({ tasks }: { readonly tasks: readonly Task[] }) {
  return (
    <div className="table scrolls" role="region" aria-label="Partitions" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Consumer</th>
            <th scope="col">Topic</th>
            <th scope="col" className="number">
              Partition
            </th>
            <th scope="col">State</th>
            <th scope="col" className="number">
              Waiting records
            </th>
            <th scope="col">Instance</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map(({ task, group, topic, partition, state, lagRecords, instance }) => (
            <tr key={`${task} ${instance}`}>
              <td>{group}</td>
              <td>{topic}</td>
              <td className="number">{partition}</td>
              <td>
                <StatusBadge status={state} />
              </td>
              <td className="number">{lagRecords === undefined ? '–' : countText(lagRecords)}</td>
              <td>
                <code>{instance}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
