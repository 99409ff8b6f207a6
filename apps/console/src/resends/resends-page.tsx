import './resends.css';
import { Link } from 'wouter';
import { useSession } from '../session/session.js';
import { Empty } from '../shared/states.js';
import { BatchCard } from './batch-card.js';
import { useBatches } from './use-batches.js';

/** What was resent from this browser, and how far it is. */
export function ResendsPage() {
  const { batches, save, forget } = useBatches();
  const { info } = useSession();
  // A browser may have those of several fleets, whose replays are read with the key of each.
  const ofFleet = batches.filter(({ fleetId }) => fleetId === info?.fleetId);
  return (
    <>
      <p className="trail">
        <Link href="/deliveries">Deliveries</Link>
      </p>
      <h1>Resends</h1>
      {info !== null && ofFleet.length === 0 && (
        <Empty title="Nothing was resent from this browser">
          <p>
            Filter the <Link href="/deliveries?status=failed">deliveries</Link>, and choose “Resend all”. Every replay
            is on the page of its subscription, too.
          </p>
        </Empty>
      )}
      {ofFleet.map((batch) => (
        <BatchCard key={batch.id} batch={batch} save={save} forget={() => forget(batch.id)} />
      ))}
    </>
  );
}
