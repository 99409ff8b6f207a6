import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useRef, useState } from 'react';
import {
  type Subscription,
  type SubscriptionWithHealth,
  type UpdateSubscription,
  WaypostApiError,
} from '@waypost/client';
import { useClient } from '../session/session.js';
import { ActionError, Failure, Loading } from '../shared/states.js';
import { changed } from './changed.js';
import { type Scope, ScopeChoice } from './scope-choice.js';
import { SubscriptionFields } from './subscription-fields.js';
import { changesOf, settingsOf } from './subscription-settings.js';
import { useSiblings } from './use-siblings.js';

/** Edits the version that is read when it opens: another one by then is not overwritten. */
export function EditDialog({ id }: { readonly id: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setIsOpen(true);
          dialog.current?.showModal();
        }}
      >
        Edit
      </button>
      <dialog ref={dialog} aria-labelledby="edit-title" onClose={() => setIsOpen(false)}>
        <h2 id="edit-title">Edit the subscription</h2>
        {isOpen && <Version id={id} close={() => dialog.current?.close()} />}
      </dialog>
    </>
  );
}

interface VersionProps {
  readonly id: string;
  readonly close: () => void;
}

function Version({ id, close }: VersionProps) {
  const client = useClient();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['subscription-version', id],
    queryFn: ({ signal }) => client.call('getSubscription', { id }, { signal }),
    staleTime: Infinity,
    gcTime: 0,
  });
  if (isPending) return <Loading what="the subscription" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  const { body, etag } = data;
  return <EditForm key={etag} subscription={body} etag={etag} close={close} reload={() => void refetch()} />;
}

interface EditFormProps extends Pick<VersionProps, 'close'> {
  readonly subscription: Subscription;
  readonly etag: string | null;
  readonly reload: () => void;
}

function EditForm({ subscription, etag, close, reload }: EditFormProps) {
  const { eventType } = subscription;
  const [url, setUrl] = useState(subscription.url);
  const [settings, setSettings] = useState(settingsOf(subscription));
  const [scope, setScope] = useState<Scope>('subscription');
  const { data: others = [] } = useSiblings(subscription);
  const update = useEdit(subscription, etag, close);
  const isOutdated = update.error instanceof WaypostApiError && update.error.status === 412;

  function submit(event: SyntheticEvent): void {
    event.preventDefault();
    update.mutate({ scope, body: { url, ...changesOf(subscription, settings) } });
  }

  return (
    <form className="form" onSubmit={submit}>
      <label>
        URL that receives the events
        <input type="url" required value={url} onChange={({ target }) => setUrl(target.value)} />
      </label>
      <SubscriptionFields {...{ settings, shownCertificate: subscription.clientCertificate }} onChange={setSettings} />
      {others.length > 0 && <ScopeChoice legend="Change" {...{ eventType, others, scope }} onChange={setScope} />}
      <ActionError error={update.error}>
        {isOutdated ? 'Someone else has changed it since you opened it. Nothing was saved.' : null}
      </ActionError>
      <div className="actions">
        <button type="submit" className="primary" disabled={update.isPending}>
          Save
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
        {isOutdated && (
          <button type="button" onClick={reload}>
            Show their version
          </button>
        )}
      </div>
    </form>
  );
}

interface Edit {
  readonly scope: Scope;
  readonly body: UpdateSubscription;
}

function useEdit({ id }: Subscription, etag: string | null, close: () => void) {
  const client = useClient();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (edit: Edit) => client.updateSubscription({ id, ...edit }, etag === null ? {} : { ifMatch: etag }),
    onSuccess: async (edited, { scope }) => {
      queries.setQueryData<SubscriptionWithHealth>(['subscription', id], (before) => changed(before, edited));
      close();
      await queries.invalidateQueries({ queryKey: ['subscriptions'] });
      if (scope === 'url') await queries.invalidateQueries({ queryKey: ['subscription'] });
    },
  });
}
