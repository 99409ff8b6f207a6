import { useRef, useState } from 'react';
import type { Subscription } from '@waypost/client';
import { Failure, Loading } from '../shared/states.js';
import { type Scope, ScopeChoice } from './scope-choice.js';
import { useSiblings } from './use-siblings.js';

export interface Rotation {
  readonly scope: Scope;
  /** The event types of the others with its URL. */
  readonly others: readonly string[];
}

interface RotateDialogProps {
  readonly subscription: Pick<Subscription, 'id' | 'url' | 'eventType'>;
  readonly disabled: boolean;
  readonly onConfirm: (rotation: Rotation) => void;
}

/** Says what a new secret means, also to the other subscriptions of the receiver, which may share the old one. */
export function RotateDialog({ subscription, disabled, onConfirm }: RotateDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const close = () => dialog.current?.close();
  return (
    <>
      <button
        type="button"
        disabled={disabled}
        onClick={() => {
          setIsOpen(true);
          dialog.current?.showModal();
        }}
      >
        Rotate the secret
      </button>
      <dialog ref={dialog} aria-labelledby="rotate-title" onClose={() => setIsOpen(false)}>
        <h2 id="rotate-title">Create a new secret</h2>
        {isOpen && (
          <Question
            subscription={subscription}
            close={close}
            onConfirm={(rotation) => {
              close();
              onConfirm(rotation);
            }}
          />
        )}
      </dialog>
    </>
  );
}

type QuestionProps = Omit<RotateDialogProps, 'disabled'> & { readonly close: () => void };

function Question({ subscription, close, onConfirm }: QuestionProps) {
  const { data: others, error, isPending, refetch } = useSiblings(subscription);
  // For all of them: a receiver that has one secret for its URL would refuse the others after it takes a new one.
  const [scope, setScope] = useState<Scope>('url');
  const { eventType } = subscription;
  const hasOthers = others !== undefined && others.length > 0;
  return (
    <>
      {isPending && <Loading what="the other subscriptions with this URL" />}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {hasOthers && (
        <>
          <ScopeChoice legend="Rotate for" {...{ eventType, others, scope }} onChange={setScope} />
          <p className="hint">
            Subscriptions that were created together share one secret. Rotate only {eventType} if your receiver can
            verify it with a different one.
          </p>
        </>
      )}
      <p>
        It is shown once. For 24 hours deliveries are signed with both secrets, so that receivers can switch in the
        meantime.
      </p>
      <div className="actions">
        <button
          type="button"
          className="primary"
          disabled={others === undefined}
          onClick={() => onConfirm({ scope: hasOthers ? scope : 'subscription', others: others ?? [] })}
        >
          Create a new secret
        </button>
        {/* The other one is disabled at first, and would not take the focus. */}
        <button type="button" autoFocus onClick={close}>
          Cancel
        </button>
      </div>
    </>
  );
}
