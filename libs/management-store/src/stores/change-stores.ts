import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  ApiKeyEntity,
  FleetEntity,
  GeofenceEntity,
  PortalSessionEntity,
  WebhookReplayEntity,
  WebhookSubscriptionEntity,
} from '../entities.js';
import { ApiKeyStore, type RandomBytes } from './api-key-store.js';
import { FleetStore } from './fleet-store.js';
import { GeofenceStore } from './geofence-store.js';
import { PortalSessionStore } from './portal-session-store.js';
import { ReplayStore } from './replay-store.js';
import { SubscriptionStore } from './subscription-store.js';

/** The stores of the resources that people change; they can share one SQL transaction. */
@Injectable()
export class ChangeStores {
  constructor(
    readonly fleets: FleetStore,
    readonly apiKeys: ApiKeyStore,
    readonly subscriptions: SubscriptionStore,
    readonly replays: ReplayStore,
    readonly geofences: GeofenceStore,
    readonly portalSessions: PortalSessionStore,
  ) {}

  /** The stores on this manager: inside a transaction, their own transactions are savepoints of it. */
  static on(manager: EntityManager, randomBytes: RandomBytes): ChangeStores {
    return new ChangeStores(
      new FleetStore(manager.getRepository(FleetEntity)),
      new ApiKeyStore(manager.getRepository(ApiKeyEntity), randomBytes),
      new SubscriptionStore(manager.getRepository(WebhookSubscriptionEntity)),
      new ReplayStore(manager.getRepository(WebhookReplayEntity)),
      new GeofenceStore(manager.getRepository(GeofenceEntity)),
      new PortalSessionStore(manager.getRepository(PortalSessionEntity), randomBytes),
    );
  }
}
