import { type SyntheticEvent, useState } from 'react';
import type { CreateReplay } from '@waypost/client';
import { useClient } from '../session/session.js';
import { DAY_MS, nowMs } from '../shared/clock.js';
import { ActionError } from '../shared/states.js';
import { isoOfInput, localInputText } from '../shared/time-text.js';
import { useCreation } from '../shared/use-creation.js';

interface ReplayFormProps {
  readonly subscriptionId: string;
  readonly onMade: () => Promise<void>;
}

type Asked = Omit<CreateReplay, 'endDate'> & Partial<Pick<CreateReplay, 'endDate'>>;

/** Sends a window of deliveries again: what failed in the last day, unless one says otherwise. */
export function ReplayForm({ subscriptionId: id, onMade }: ReplayFormProps) {
  const client = useClient();
  const [dayAgo] = useState(() => new Date(nowMs() - DAY_MS).toISOString());
  const [from, setFrom] = useState(localInputText(dayAgo));
  const [to, setTo] = useState('');
  const [status, setStatus] = useState<CreateReplay['status'] | ''>('failed');
  const [statusCode, setStatusCode] = useState('');
  const [deviceId, setDeviceId] = useState('');
  const creation = useCreation({
    // Without an end it ends when it was first asked for: the same request may be sent again.
    send: ({ endDate, ...rest }: Asked, { idempotencyKey, firstAtMs }) => {
      const body = { ...rest, endDate: endDate ?? new Date(firstAtMs).toISOString() };
      return client.createReplay({ id, body }, { idempotencyKey });
    },
    onSuccess: onMade,
  });

  function submit(event: SyntheticEvent): void {
    event.preventDefault();
    creation.mutate({
      startDate: isoOfInput(from, dayAgo),
      ...(to !== '' && { endDate: isoOfInput(to) }),
      ...(status !== '' && status !== undefined && { status }),
      ...(statusCode !== '' && { statusCode: Number(statusCode) }),
      ...(deviceId.trim() !== '' && { deviceId: deviceId.trim() }),
    });
  }

  return (
    <form className="filters wide" onSubmit={submit}>
      <label>
        From
        <input type="datetime-local" step="1" required value={from} onChange={({ target }) => setFrom(target.value)} />
      </label>
      <label>
        To (now if empty)
        <input type="datetime-local" step="1" value={to} onChange={({ target }) => setTo(target.value)} />
      </label>
      <label>
        Status
        <select value={status} onChange={({ target }) => setStatus(target.value as CreateReplay['status'] | '')}>
          <option value="failed">failed</option>
          <option value="pending">pending</option>
          <option value="delivered">delivered</option>
          <option value="">any</option>
        </select>
      </label>
      <StatusCodeField value={statusCode} set={setStatusCode} />
      <label>
        Device
        <input placeholder="every device" value={deviceId} onChange={({ target }) => setDeviceId(target.value)} />
      </label>
      <button type="submit" disabled={creation.isPending}>
        Send them again
      </button>
      <ActionError error={creation.error} />
    </form>
  );
}

interface StatusCodeFieldProps {
  readonly value: string;
  readonly set: (value: string) => void;
}

function StatusCodeField({ value, set }: StatusCodeFieldProps) {
  return (
    <label>
      Status code
      <input
        type="number"
        min="100"
        max="999"
        placeholder="any"
        value={value}
        onChange={({ target }) => set(target.value)}
      />
    </label>
  );
}
