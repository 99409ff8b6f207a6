import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { Link } from 'wouter';
import type { CreateSubscriptions, SubscriptionWithSecret } from '@waypost/client';
import { EVENT_TYPES } from '../deliveries/delivery-filters.js';
import { useClient } from '../session/session.js';
import { SecretPanel } from './secret-panel.js';

type EventType = NonNullable<CreateSubscriptions['eventType']>;

const SUBSCRIBED_TYPES = EVENT_TYPES.filter((type): type is EventType => type !== 'test');

/** Makes subscriptions of one URL, and shows their secret the one time that it can be seen. */
export function NewSubscriptionPage() {
  const client = useClient();
  const queries = useQueryClient();
  const [url, setUrl] = useState('');
  const [types, setTypes] = useState<readonly EventType[]>([]);
  const creation = useMutation({
    mutationFn: (body: CreateSubscriptions) => client.createSubscriptions({ body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
  if (creation.data) return <Created subscriptions={creation.data.data} />;

  function submit(event: SyntheticEvent): void {
    event.preventDefault();
    creation.mutate({ url, eventTypes: types });
  }

  function toggle(type: EventType): void {
    setTypes(types.includes(type) ? types.filter((one) => one !== type) : [...types, type]);
  }

  return (
    <>
      <h1>New subscription</h1>
      <form className="form" onSubmit={submit}>
        <label>
          URL that receives the events
          <input
            type="url"
            required
            autoFocus
            placeholder="https://example.com/hooks"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </label>
        <fieldset>
          <legend>Events</legend>
          {SUBSCRIBED_TYPES.map((type) => (
            <label key={type} className="switch">
              <input type="checkbox" checked={types.includes(type)} onChange={() => toggle(type)} />
              {type}
            </label>
          ))}
        </fieldset>
        <p role="alert" className="problem">
          {creation.error?.message}
        </p>
        <div className="actions">
          <button type="submit" className="primary" disabled={types.length === 0 || creation.isPending}>
            Create
          </button>
          <Link href="/subscriptions">Cancel</Link>
        </div>
      </form>
    </>
  );
}

function Created({ subscriptions }: { readonly subscriptions: readonly SubscriptionWithSecret[] }) {
  const [first] = subscriptions;
  if (!first) return null;
  return (
    <>
      <h1>Created</h1>
      <ul>
        {subscriptions.map(({ id, eventType }) => (
          <li key={id}>
            <Link href={`/subscriptions/${id}`}>{eventType}</Link>
          </li>
        ))}
      </ul>
      <SecretPanel secret={first.secret} />
    </>
  );
}
