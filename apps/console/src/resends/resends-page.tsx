import './resends.css';
import { Link } from 'wouter';
import { Empty } from '../shared/states.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';
import { BatchCard } from './batch-card.js';
import { useBatches } from './use-batches.js';

/** What was resent from this browser, and how far it is. */
export function ResendsPage() {
  const { batches, save, forget } = useBatches();
  const [one] = useSubscriptions().items;
  const ofFleet = one === undefined ? batches : batches.filter(({ fleetId }) => fleetId === one.fleetId);
  return (
    <>
      <p className="trail">
        <Link href="/deliveries">Deliveries</Link>
      </p>
      <h1>Resends</h1>
      {ofFleet.length === 0 && (
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
