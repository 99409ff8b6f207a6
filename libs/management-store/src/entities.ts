import type { DataSourceOptions } from 'typeorm';
import { ApiKeyEntity } from './api-key.entity.js';
import { FleetEntity } from './fleet.entity.js';
import { GeofenceEntity } from './geofence.entity.js';
import { OutboxRowEntity } from './outbox-row.entity.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

/** Every mapped table: a data source that the stores work on is created with them. */
export const MANAGEMENT_ENTITIES = [
  ApiKeyEntity,
  FleetEntity,
  GeofenceEntity,
  OutboxRowEntity,
  WebhookSubscriptionEntity,
] satisfies DataSourceOptions['entities'];
