import { WaypostApiError } from '@waypost/client';
import { Empty, Failure } from '../shared/states.js';

/** A failure, or that the API was not given the addresses of the instances. */
export function OperationsFailure({ error, retry }: { readonly error: Error; readonly retry: () => void }) {
  if (!(error instanceof WaypostApiError) || error.status !== 404) return <Failure error={error} retry={retry} />;
  return (
    <Empty title="The API does not know the instances">
      <p>
        Set <code>WAYPOST_ADMIN_URLS</code> for public-api to the admin addresses of all processes, comma-separated.
        Until then: <code>npm run waypost -- tasks list</code>
      </p>
    </Empty>
  );
}
