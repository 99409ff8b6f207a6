import type { EntityManager } from 'typeorm';
import { ApiKeyStore, type RandomBytes } from './api-key-store.js';
import {
  ApiKeyEntity,
  FleetEntity,
  GeofenceEntity,
  WebhookReplayEntity,
  WebhookSubscriptionEntity,
} from './entities.js';
import { FleetStore } from './fleet-store.js';
import { GeofenceStore } from './geofence-store.js';
import { ReplayStore } from './replay-store.js';
import { SubscriptionStore } from './subscription-store.js';

type FleetMethods = Pick<FleetStore, 'createFleet' | 'findFleet' | 'updateFleet'>;
type ApiKeyMethods = Pick<ApiKeyStore, 'createApiKey' | 'findApiKey' | 'listApiKeys' | 'revokeApiKey'>;

/** The stores of the resources that people change; they can share one SQL transaction. */
export interface ChangeStores extends FleetMethods, ApiKeyMethods {
  readonly subscriptions: SubscriptionStore;
  readonly replays: ReplayStore;
  readonly geofences: GeofenceStore;
}

/** The stores on this manager: inside a transaction, their own transactions are savepoints of it. */
export function createChangeStores(manager: EntityManager, randomBytes: RandomBytes): ChangeStores {
  const fleets = new FleetStore(manager.getRepository(FleetEntity));
  const keys = new ApiKeyStore(manager.getRepository(ApiKeyEntity), randomBytes);
  return {
    createFleet: (fleet) => fleets.createFleet(fleet),
    findFleet: (fleetId) => fleets.findFleet(fleetId),
    updateFleet: (...update) => fleets.updateFleet(...update),
    createApiKey: (key) => keys.createApiKey(key),
    findApiKey: (hash) => keys.findApiKey(hash),
    listApiKeys: (query) => keys.listApiKeys(query),
    revokeApiKey: (ref, nowMs) => keys.revokeApiKey(ref, nowMs),
    subscriptions: new SubscriptionStore(manager.getRepository(WebhookSubscriptionEntity)),
    replays: new ReplayStore(manager.getRepository(WebhookReplayEntity)),
    geofences: new GeofenceStore(manager.getRepository(GeofenceEntity)),
  };
}
