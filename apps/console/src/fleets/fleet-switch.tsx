import { ChevronsUpDown } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Popover } from '../shared/popover.js';
import { fleetsWith, notFoundText, useFleets } from './use-fleets.js';

const SHOWN = 8;

/** The fleet that an operator acts for: another one has the same page below its own address. */
export function FleetSwitch({ fleetId }: { readonly fleetId: string | null }) {
  const label = (
    <>
      <span className="text">{fleetId ?? 'Choose a fleet'}</span>
      <ChevronsUpDown size={15} aria-hidden="true" />
    </>
  );
  return (
    <div className="fleet-switch">
      <Popover label={label} title={fleetId === null ? 'Choose a fleet' : `Fleet: ${fleetId}`}>
        {(close) => <Choice close={close} fleetId={fleetId} />}
      </Popover>
    </div>
  );
}

function Choice({ close, fleetId }: { readonly close: () => void; readonly fleetId: string | null }) {
  const { data } = useFleets();
  const [text, setText] = useState('');
  const [location] = useLocation();
  // The page of one thing exists in one fleet only.
  const page = fleetId === null ? 'overview' : (location.split('/')[1] ?? 'overview');
  const found = fleetsWith(text, data?.items ?? []);
  return (
    <div className="fleet-choice">
      <input
        type="search"
        aria-label="Fleet"
        placeholder="Id or name"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <ul className="plain">
        {found.slice(0, SHOWN).map(({ id, name }) => (
          <li key={id}>
            <Link href={`~/fleets/${id}/${page}`} onClick={close} aria-current={id === fleetId ? 'true' : undefined}>
              <strong>{id}</strong> <span className="hint">{name}</span>
            </Link>
          </li>
        ))}
      </ul>
      {data && found.length === 0 && <p className="hint">{notFoundText(data)}.</p>}
      <Link href="~/fleets" onClick={close}>
        All fleets
      </Link>
    </div>
  );
}
