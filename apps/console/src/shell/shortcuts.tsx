import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';

const KEYS = [
  { keys: 'g o', does: 'Go to the overview' },
  { keys: 'g d', does: 'Go to the deliveries' },
  { keys: 'g s', does: 'Go to the subscriptions' },
  { keys: 'g v', does: 'Go to the vehicles' },
  { keys: '/', does: 'Search by device' },
  { keys: '?', does: 'Show these keys' },
] as const;

const GO_TO: Readonly<Record<string, string>> = {
  o: '/overview',
  d: '/deliveries',
  s: '/subscriptions',
  v: '/vehicles',
};

interface Help {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly show: () => void;
}

/** Keys that work everywhere but in a text field. */
export function useShortcuts(): Help {
  const [, navigate] = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  const isGoing = useRef(false);
  const show = useCallback(() => dialog.current?.showModal(), []);

  useEffect(() => {
    function press(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const target = isGoing.current ? GO_TO[event.key] : undefined;
      isGoing.current = event.key === 'g';
      if (target !== undefined) navigate(target);
      else if (event.key === '?') show();
      else if (event.key === '/' && focusSearch()) event.preventDefault();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [navigate, show]);

  return { dialog, show };
}

export function KeyHelp({ dialog }: Pick<Help, 'dialog'>) {
  return (
    <dialog ref={dialog} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl className="keys">
        {KEYS.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" autoFocus>
          Close
        </button>
      </form>
    </dialog>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null;
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLElement>('[data-search]');
  search?.focus();
  return search !== null;
}
