import 'reflect-metadata';
import type { BearerAuth, GeofenceCircle, GeofencePolygon, SealedSecret } from '@waypost/domain';
import {
  Column,
  type ColumnOptions,
  type DataSourceOptions,
  Entity,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type ValueTransformer,
} from 'typeorm';

/** A fleet and its defaults, and whether routes and stops are made for it. */
@Entity({ name: 'fleets' })
export class FleetEntity {
  @PrimaryColumn({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ type: 'text', nullable: true })
  name!: string | null;

  @Column({ name: 'payload_format', type: 'text' })
  payloadFormat!: string;

  @Column({ type: 'boolean' })
  routes!: boolean;

  @Column({ type: 'int' })
  version!: number;

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column(epochMsColumn('updated_at'))
  updatedAt!: number;
}

/** An API key of one fleet. The key itself is never stored, only its SHA-256. */
@Entity({ name: 'api_keys' })
export class ApiKeyEntity {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ type: 'text', nullable: true })
  name!: string | null;

  @Column({ type: 'text', nullable: true })
  prefix!: string | null;

  @Column({ type: 'bytea' })
  hash!: Buffer;

  @Column({ type: 'text', array: true })
  scopes!: string[];

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column({ ...epochMsColumn('revoked_at'), nullable: true })
  revokedAt!: number | null;
}

/** The current version of a webhook subscription; its secrets only sealed. */
@Entity({ name: 'webhook_subscriptions' })
export class WebhookSubscriptionEntity {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ name: 'event_type', type: 'text' })
  eventType!: string;

  @Column({ type: 'text' })
  url!: string;

  @Column({ type: 'text' })
  status!: string;

  @Column({ name: 'disabled_reason', type: 'text', nullable: true })
  disabledReason!: string | null;

  @Column({ name: 'payload_format', type: 'text' })
  payloadFormat!: string;

  @Column({ name: 'device_ids', type: 'text', array: true, nullable: true })
  deviceIds!: readonly string[] | null;

  @Column({ type: 'jsonb', nullable: true })
  auth!: BearerAuth | null;

  @Column({ name: 'rate_limit_per_second', type: 'int', nullable: true })
  rateLimitPerSecond!: number | null;

  @Column({ name: 'on_outage', type: 'text' })
  onOutage!: string;

  @Column({ name: 'strict_order', type: 'boolean' })
  strictOrder!: boolean;

  @Column({ type: 'jsonb' })
  secrets!: readonly SealedSecret[];

  @Column({ type: 'int' })
  version!: number;

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column(epochMsColumn('updated_at'))
  updatedAt!: number;
}

/** The current version of a geofence. Exactly one of circle and polygon is set. */
@Entity({ name: 'geofences' })
export class GeofenceEntity {
  @PrimaryColumn({ name: 'geofence_id', type: 'uuid' })
  geofenceId!: string;

  @Column({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'jsonb', nullable: true })
  circle!: GeofenceCircle | null;

  @Column({ type: 'jsonb', nullable: true })
  polygon!: GeofencePolygon | null;

  @Column({ type: 'int' })
  version!: number;

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column(epochMsColumn('updated_at'))
  updatedAt!: number;
}

/** A replay and, from `progressState` on, a copy of its newest record in webhook-delivery.replay-progress. */
@Entity({ name: 'webhook_replays' })
export class WebhookReplayEntity {
  @PrimaryColumn({ name: 'replay_id', type: 'uuid' })
  replayId!: string;

  @Column({ name: 'subscription_id', type: 'uuid' })
  subscriptionId!: string;

  @Column({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ type: 'int' })
  series!: number;

  @Column(epochMsColumn('start_date'))
  startDate!: number;

  @Column(epochMsColumn('end_date'))
  endDate!: number;

  @Column({ type: 'text', nullable: true })
  status!: string | null;

  @Column({ name: 'event_type', type: 'text', nullable: true })
  eventType!: string | null;

  @Column({ name: 'device_id', type: 'text', nullable: true })
  deviceId!: string | null;

  @Column({ name: 'rate_per_second', type: 'int' })
  ratePerSecond!: number;

  @Column({ type: 'boolean' })
  cancelled!: boolean;

  @Column({ type: 'int' })
  version!: number;

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column(epochMsColumn('updated_at'))
  updatedAt!: number;

  @Column({ name: 'progress_state', type: 'text', nullable: true })
  progressState!: string | null;

  @Column({ ...bigintColumn('matched'), nullable: true })
  matched!: number | null;

  @Column({ ...bigintColumn('sent'), default: 0 })
  sent!: number;

  @Column({ ...epochMsColumn('started_at'), nullable: true })
  startedAt!: number | null;

  @Column({ ...epochMsColumn('progress_at'), nullable: true })
  progressAt!: number | null;
}

/** The last series given to a subscription. It outlives the replays, so that a series is never given twice. */
@Entity({ name: 'webhook_replay_series' })
export class WebhookReplaySeriesEntity {
  @PrimaryColumn({ name: 'subscription_id', type: 'uuid' })
  subscriptionId!: string;

  @Column({ name: 'last_series', type: 'int' })
  lastSeries!: number;
}

/** The response to a request with an idempotency key, sealed. */
@Entity({ name: 'idempotency_keys' })
export class IdempotencyKeyEntity {
  @PrimaryColumn({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  /** Method and path template. */
  @PrimaryColumn({ type: 'text' })
  route!: string;

  @PrimaryColumn({ type: 'text' })
  key!: string;

  @Column({ type: 'text' })
  sealed!: string;

  @Column({ name: 'outbox_ids', type: 'bigint', array: true })
  outboxIds!: readonly string[];

  @Column(epochMsColumn('created_at'))
  createdAt!: number;
}

/** One change that waits to be published, or was published. A null value is a tombstone. */
@Entity({ name: 'outbox' })
export class OutboxEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column({ type: 'text' })
  kind!: string;

  @Column({ type: 'text' })
  key!: string;

  @Column({ name: 'partition_key', type: 'text', nullable: true })
  partitionKey!: string | null;

  @Column({ type: 'jsonb', nullable: true })
  value!: object | null;

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column({ ...epochMsColumn('published_at'), nullable: true })
  publishedAt!: number | null;
}

/** One operational event of a subscription; the topic webhook.operations has all of them. */
@Entity({ name: 'subscription_operations' })
export class OperationalEventEntity {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ name: 'subscription_id', type: 'uuid' })
  subscriptionId!: string;

  @Column({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ type: 'text' })
  type!: string;

  @Column(epochMsColumn('occurred_at'))
  occurredAt!: number;

  @Column({ type: 'text' })
  reason!: string;

  @Column({ name: 'event_id', type: 'uuid', nullable: true })
  eventId!: string | null;

  @Column({ ...bigintColumn('delivery_offset'), nullable: true })
  deliveryOffset!: number | null;

  @Column({ name: 'status_code', type: 'int', nullable: true })
  statusCode!: number | null;

  @Column({ name: 'error_code', type: 'text', nullable: true })
  errorCode!: string | null;
}

/** Every mapped table: a data source that the stores work on is created with them. */
export const MANAGEMENT_ENTITIES = [
  FleetEntity,
  ApiKeyEntity,
  WebhookSubscriptionEntity,
  GeofenceEntity,
  WebhookReplayEntity,
  WebhookReplaySeriesEntity,
  IdempotencyKeyEntity,
  OutboxEntity,
  OperationalEventEntity,
] satisfies DataSourceOptions['entities'];

/** timestamptz in the database, epoch milliseconds in TypeScript. */
function epochMsColumn(name: string): ColumnOptions {
  const transformer: ValueTransformer = {
    from: (value: Date | null) => value?.getTime() ?? null,
    to: (value: unknown) => (typeof value === 'number' ? new Date(value) : value),
  };
  return { name, type: 'timestamptz', precision: 3, transformer };
}

/** bigint in the database, which pg reads as text; a safe integer in TypeScript. */
function bigintColumn(name: string): ColumnOptions {
  const transformer: ValueTransformer = {
    from: (value: string | null) => (value === null ? null : Number(value)),
    to: (value: unknown) => value,
  };
  return { name, type: 'bigint', transformer };
}
