import { useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { Link } from 'wouter';
import { type CreateSubscriptions, EVENT_TYPES } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { EventTypeBoxes } from '../shared/event-type-boxes.js';
import { EVENT_TYPE_TEXTS } from '../shared/event-type-texts.js';
import { Trail } from '../shared/missing.js';
import { ActionError } from '../shared/states.js';
import { useCreation } from '../shared/use-creation.js';
import { CreatedSubscriptions } from './created-subscriptions.js';
import { SubscriptionFields } from './subscription-fields.js';
import { creationOf, NEW_SETTINGS } from './subscription-settings.js';
import { TrialEndpoint } from './trial-endpoint.js';

type EventType = NonNullable<CreateSubscriptions['eventType']>;

const SUBSCRIBED_TYPES = EVENT_TYPES.filter((type): type is EventType => type !== 'test');

/** For those who may make one; the address may have been typed. */
export function NewSubscriptionPage() {
  const lack = useLack('subscriptions:create');
  if (lack === null) return <NewSubscription />;
  return (
    <>
      <Trail href="/subscriptions">Subscriptions</Trail>
      <h1>New subscription</h1>
      <p className="hint lead">{lack}</p>
    </>
  );
}

/** Makes subscriptions of one URL, and shows their secret the one time that it can be seen. */
function NewSubscription() {
  const client = useClient();
  const queries = useQueryClient();
  const [url, setUrl] = useState('');
  const [settings, setSettings] = useState(NEW_SETTINGS);
  const [types, setTypes] = useState<readonly EventType[]>([]);
  const creation = useCreation({
    send: (body: CreateSubscriptions, { idempotencyKey }) => client.createSubscriptions({ body }, { idempotencyKey }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
  if (creation.data) return <CreatedSubscriptions subscriptions={creation.data.data} />;

  function submit(event: SyntheticEvent): void {
    event.preventDefault();
    creation.mutate({ url, eventTypes: types, ...creationOf(settings) });
  }

  return (
    <>
      <Trail href="/subscriptions">Subscriptions</Trail>
      <div>
        <h1>New subscription</h1>
        <p className="hint lead">
          Each event that you choose is sent to the URL as a signed POST, and again if that fails.
        </p>
      </div>
      <form className="form card" onSubmit={submit}>
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
        <TrialEndpoint />
        <TypeFields types={types} onChange={setTypes} />
        <details>
          <summary>More settings</summary>
          <div className="form">
            <SubscriptionFields settings={settings} onChange={setSettings} isNew />
          </div>
        </details>
        <ActionError error={creation.error} />
        <div className="actions">
          <button type="submit" className="primary" disabled={types.length === 0 || creation.isPending}>
            Create
          </button>
          <Link href="/subscriptions">Cancel</Link>
          {types.length === 0 && <span className="hint">Choose at least one event.</span>}
        </div>
      </form>
    </>
  );
}

interface TypeFieldsProps {
  readonly types: readonly EventType[];
  readonly onChange: (types: readonly EventType[]) => void;
}

function TypeFields({ types, onChange }: TypeFieldsProps) {
  const areAll = types.length === SUBSCRIBED_TYPES.length;
  return (
    <fieldset>
      <legend>Events</legend>
      <EventTypeBoxes types={SUBSCRIBED_TYPES} chosen={types} onChange={onChange} texts={EVENT_TYPE_TEXTS} />
      <button type="button" className="quiet" onClick={() => onChange(areAll ? [] : SUBSCRIBED_TYPES)}>
        {areAll ? 'Choose none' : 'Choose all'}
      </button>
    </fieldset>
  );
}
