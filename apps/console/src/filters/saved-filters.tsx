import { type SyntheticEvent, useState } from 'react';
import { Link, useRouter } from 'wouter';
import { useSession } from '../session/session.js';
import { CopyButton } from '../shared/copy-button.js';
import { Popover } from '../shared/popover.js';
import { useOwnList } from '../shared/use-own-list.js';
import { addressOf, decodeSaved, linkOf, type SavedFilter, withSaved } from './saved-filter.js';

interface SavedFiltersProps {
  /** What the address has after `?`. */
  readonly search: string;
  /** For people: the name that is offered. */
  readonly text: string;
}

/** Filters with a name, kept in this browser. Outside of a portal, a link brings one to another browser. */
export function SavedFilters({ search, text }: SavedFiltersProps) {
  const { items, change } = useOwnList('waypost.savedFilters', decodeSaved);
  const title = items.length > 0 ? `Saved filters (${String(items.length)})` : 'Saved filters';
  return (
    <Popover label={title} title={title}>
      {(close) => (
        <>
          {items.length === 0 && <p className="hint">Name a filter to save it here.</p>}
          <ul className="plain saved">
            {items.map((filter) => (
              <SavedLine key={filter.name} filter={filter} onUse={close} remove={() => change(without(filter.name))} />
            ))}
          </ul>
          <SaveForm key={text} offered={text} save={(name) => change((all) => withSaved(all, { name, search }))} />
        </>
      )}
    </Popover>
  );
}

interface SavedLineProps {
  readonly filter: SavedFilter;
  readonly onUse: () => void;
  readonly remove: () => void;
}

function SavedLine({ filter, onUse, remove }: SavedLineProps) {
  const { base } = useRouter();
  const { portal } = useSession();
  const { name } = filter;
  return (
    <li>
      <Link href={addressOf(filter)} onClick={onUse} className="text">
        {name}
      </Link>
      {/* Addresses of a portal end with the session. */}
      {portal === null && <CopyButton text={linkOf(filter, base, location.origin)}>Copy link</CopyButton>}
      <button type="button" className="quiet" aria-label={`Forget ${name}`} onClick={remove}>
        ✕
      </button>
    </li>
  );
}

function SaveForm({ offered, save }: { readonly offered: string; readonly save: (name: string) => void }) {
  const [name, setName] = useState(offered);
  return (
    <form
      className="actions"
      onSubmit={(event: SyntheticEvent) => {
        event.preventDefault();
        save(name.trim());
      }}
    >
      <label>
        Name of this filter
        <input required maxLength={80} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <button type="submit">Save</button>
    </form>
  );
}

function without(name: string) {
  return (all: readonly SavedFilter[]) => all.filter((one) => one.name !== name);
}
