import { useSyncExternalStore } from 'react';

/** What is shown stays; it is not the newest. */
export function OfflineBanner() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  if (isOnline) return null;
  return (
    <p className="offline" role="status">
      This device is offline. The data shown may be outdated; it updates once there is a connection.
    </p>
  );
}

function subscribe(changed: () => void): () => void {
  addEventListener('online', changed);
  addEventListener('offline', changed);
  return () => {
    removeEventListener('online', changed);
    removeEventListener('offline', changed);
  };
}
