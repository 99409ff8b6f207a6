import { useState } from 'react';
import { Link } from 'wouter';
import { RowSkeleton } from '../shared/skeleton.js';
import { Empty, Failure } from '../shared/states.js';
import { countText } from '../shared/time-text.js';
import { type Fleet, fleetsWith, notFoundText, useFleets } from './use-fleets.js';

/** The fleets of the installation, for an operator. */
export function FleetsPage() {
  const { data, error, isPending, refetch } = useFleets();
  const [text, setText] = useState('');
  const found = fleetsWith(text, data?.items ?? []);
  return (
    <>
      <div className="title">
        <h1>Fleets</h1>
        <input
          type="search"
          data-search=""
          aria-label="Find a fleet by its id or name"
          placeholder="Id or name"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      {isPending && <RowSkeleton />}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data?.items.length === 0 && (
        <Empty title="No fleet yet">
          <p>
            Create the first, with a key: <code>npm run waypost -- fleet create acme</code>
          </p>
        </Empty>
      )}
      {data && data.items.length > 0 && found.length === 0 && <Empty title={notFoundText(data)} />}
      {found.length > 0 && <FleetTable fleets={found} />}
      {found.length > 0 && <p className="hint">{countText(found.length)} shown</p>}
      {data?.hasMore === true && (
        <p className="hint">
          These are the first {countText(data.items.length)} fleets. Any other is at <code>/fleets/</code> and its id.
        </p>
      )}
    </>
  );
}

function FleetTable({ fleets }: { readonly fleets: readonly Fleet[] }) {
  return (
    <div className="table scrolls">
      <table>
        <thead>
          <tr>
            <th scope="col">Fleet</th>
            <th scope="col">Name</th>
            <th scope="col">Format</th>
            <th scope="col">Routes and stops</th>
          </tr>
        </thead>
        <tbody>
          {fleets.map(({ id, name, payloadFormat, routes }) => (
            <tr key={id} data-row="">
              <td>
                <Link href={`~/fleets/${id}/overview`}>{id}</Link>
              </td>
              <td className="text">{name ?? <span className="hint">none</span>}</td>
              <td>{payloadFormat}</td>
              <td>{routes ? 'yes' : 'no'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
