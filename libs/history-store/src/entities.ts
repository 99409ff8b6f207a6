import type { DataSourceOptions } from 'typeorm';
import { ApiKeyEntity } from './management/api-key.entity.js';
import { FleetEntity } from './management/fleet.entity.js';
import { GeofenceEntity } from './management/geofence.entity.js';
import { OutboxRowEntity } from './management/outbox-row.entity.js';
import { WebhookSubscriptionEntity } from './management/webhook-subscription.entity.js';

/**
 * Every mapped table. The history's own tables are absent on purpose: they are written in bulk and read by keyset, by the
 * SQL under history/.
 */
export const entities = [
  ApiKeyEntity,
  FleetEntity,
  GeofenceEntity,
  OutboxRowEntity,
  WebhookSubscriptionEntity,
] satisfies DataSourceOptions['entities'];
