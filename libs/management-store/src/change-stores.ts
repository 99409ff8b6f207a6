import type { ApiKeyStore } from './api-key-store.js';
import type { FleetStore } from './fleet-store.js';
import type { GeofenceStore } from './geofence-store.js';
import type { ReplayStore } from './replay-store.js';
import type { SubscriptionStore } from './subscription-store.js';

/** The stores of what people change; they may share one SQL transaction. */
export interface ChangeStores extends FleetStore, ApiKeyStore {
  readonly subscriptions: SubscriptionStore;
  readonly replays: ReplayStore;
  readonly geofences: GeofenceStore;
}
