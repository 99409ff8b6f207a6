import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useRef, useState } from 'react';
import { useClient } from '../session/session.js';
import { Moment } from '../shared/moment.js';
import { ActionError } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import type { Task } from './task.js';

type Command = 'retry' | 'skip';

const TEXTS = {
  retry: {
    label: 'Try again',
    what: 'Retries the partition now instead of at its next scheduled time. Nothing is lost.',
  },
  skip: {
    label: 'Skip the record',
    what: 'Moves the failing record to the rejected records; it has no effect. The partition continues with the next record.',
  },
} as const;

/** Why a partition cannot continue, and what can be done. */
export function ParkedPartition({ task }: { readonly task: Task }) {
  const { group, topic, partition, parked, instance } = task;
  if (parked === undefined) return null;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['Topic', `${parked.topic ?? topic}, partition ${String(partition)}`],
    ['Offset', parked.offset ?? 'no record is the cause'],
    ['Since', <Moment key="since" iso={parked.since} />],
    [
      'Next retry',
      parked.nextRetryAt === undefined ? 'only on command' : <Moment key="next" iso={parked.nextRetryAt} />,
    ],
    ['Instance', <code key="instance">{instance}</code>],
  ];
  return (
    <section className="card parked" aria-label={task.task}>
      <div className="title">
        <h2>{group}</h2>
        <StatusBadge status="parked" />
        <CommandDialog task={task.task} command="retry" />
        <CommandDialog task={task.task} command="skip" record={parked} />
      </div>
      <p>
        <strong>{parked.code}</strong> <span className="text">{parked.message}</span>
      </p>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type ParkedRecord = Pick<NonNullable<Task['parked']>, 'offset' | 'topic'>;

interface CommandDialogProps {
  readonly task: string;
  readonly command: Command;
  /** To skip; without an offset no record is the cause. */
  readonly record?: ParkedRecord;
}

function CommandDialog({ task, command, record: shown = {} }: CommandDialogProps) {
  const client = useClient();
  const queries = useQueryClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  // The record that the reader has decided about: while they write, the partition may be parked at another one.
  const [record, setRecord] = useState(shown);
  const { label, what } = TEXTS[command];
  const sending = useMutation({
    mutationFn: () => client.commandTask({ task, body: { command, reason, ...recordOf(record) } }),
    onSuccess: () => {
      dialog.current?.close();
      return queries.invalidateQueries({ queryKey: ['tasks'] });
    },
  });

  function submit(event: SyntheticEvent): void {
    event.preventDefault();
    sending.mutate();
  }

  return (
    <>
      <button
        type="button"
        className={command === 'skip' ? 'danger' : ''}
        onClick={() => {
          sending.reset();
          setRecord(shown);
          dialog.current?.showModal();
        }}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-label={label}>
        <h2>{label}</h2>
        <p>
          <code>{task}</code>
          {record.offset !== undefined && `, offset ${String(record.offset)}`}: {what}
        </p>
        <form className="form" onSubmit={submit}>
          <label>
            Reason, for the log
            <input required maxLength={500} value={reason} onChange={({ target }) => setReason(target.value)} />
          </label>
          <ActionError error={sending.error} />
          <div className="actions">
            <button type="submit" className={command === 'skip' ? 'danger' : 'primary'} disabled={sending.isPending}>
              {label}
            </button>
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}

/** Several topics have records with its offset. */
function recordOf({ offset, topic }: ParkedRecord) {
  return offset === undefined ? {} : { offset, ...(topic !== undefined && { topic }) };
}
