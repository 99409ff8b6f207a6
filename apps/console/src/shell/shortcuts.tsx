import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useLocation } from 'wouter';
import type { Place } from './places.js';
import { usePlaces } from './use-places.js';

interface Key {
  readonly keys: string;
  readonly does: string;
}

const KEYS: readonly Key[] = [
  { keys: '/', does: 'Go to the search field of the page' },
  { keys: 'j', does: 'Next row' },
  { keys: 'k', does: 'Previous row' },
  { keys: 'r', does: 'Refresh the list' },
  { keys: 'x', does: 'Clear all filters' },
  { keys: 'l', does: 'Stop or continue the live tail' },
  { keys: '?', does: 'Show these shortcuts' },
];

export interface Opener {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly show: () => void;
  /** How often it was shown. */
  readonly openings: number;
}

export interface Shortcuts {
  readonly help: Opener;
  readonly palette: Opener;
}

/** Keys that work everywhere but in a text field; Ctrl+K works there as well. What stands behind a dialog gets none. */
export function useShortcuts(): Shortcuts {
  const { all: places } = usePlaces();
  const [, navigate] = useLocation();
  const help = useOpener();
  const palette = useOpener();
  const isGoing = useRef(false);
  const { show: showHelp } = help;
  const { show: showPalette } = palette;

  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const { key } = event;
      const isBehind = document.querySelector('dialog:modal') !== null;
      if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') {
        event.preventDefault();
        if (!isBehind) showPalette();
        return;
      }
      if (isBehind || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const place = isGoing.current ? places.find((one) => one.key === key) : undefined;
      isGoing.current = key === 'g';
      if (place) navigate(place.path);
      else if (key === '?') showHelp();
      else if (key === '/' && focusSearch()) event.preventDefault();
      else if (key === 'j' || key === 'k') moveRow(key === 'j' ? 1 : -1);
      else document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.click();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [navigate, places, showHelp, showPalette]);

  return { help, palette };
}

function useOpener(): Opener {
  const dialog = useRef<HTMLDialogElement>(null);
  const [openings, setOpenings] = useState(0);
  const show = useCallback(() => {
    if (dialog.current?.open !== false) return;
    // Its field is there before the next key is pressed.
    flushSync(() => setOpenings((count) => count + 1));
    dialog.current.showModal();
  }, []);
  return { dialog, show, openings };
}

export function KeyHelp({ dialog }: Pick<Opener, 'dialog'>) {
  const { all } = usePlaces();
  return (
    <dialog ref={dialog} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl className="keys">
        {[...keysOf(all), ...KEYS].map(({ keys, does }) => (
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

function keysOf(places: readonly Place[]): Key[] {
  return [
    { keys: 'Ctrl K', does: 'Search pages, subscriptions, ids and devices' },
    ...places.map(({ key, title }) => ({ keys: `g ${key}`, does: `Go to the ${title.toLowerCase()}` })),
  ];
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest('input:not([type="checkbox"]), select, textarea') !== null;
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLElement>('[data-search]');
  search?.focus();
  return search !== null;
}

/** To the link of the next row, or from outside to the first one in sight. */
function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].sort((a, b) => topOf(a) - topOf(b));
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next = current < 0 ? rows.find((row) => topOf(row) >= 0) : rows[current + step];
  next?.querySelector('a')?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function topOf(row: HTMLElement): number {
  return row.getBoundingClientRect().top;
}
