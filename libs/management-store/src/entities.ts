import 'reflect-metadata';
import {
  Column,
  type ColumnOptions,
  type DataSourceOptions,
  Entity,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type ValueTransformer,
} from 'typeorm';
import type {
  BearerAuth,
  ClientCertificate,
  CustomHeader,
  GeofenceCircle,
  GeofencePolygon,
  SealedSecret,
} from '@waypost/domain';

/** Rows of earlier releases lack the fields that were added since. */
const AUTH: ValueTransformer = {
  from: (stored: Partial<BearerAuth> | null) =>
    stored === null ? null : { audience: null, tokenAuthMethod: 'client_secret_basic', ...stored },
  to: (value: unknown) => value,
};

/** A managed resource: every change makes its next version. */
abstract class VersionedRow {
  @Column('int') version!: number;
  @TimestampColumn('created_at') createdAt!: number;
  @TimestampColumn('updated_at') updatedAt!: number;
}

/** A fleet and its defaults, and whether routes and stops are made for it. */
@Entity({ name: 'fleets' })
export class FleetEntity extends VersionedRow {
  @PrimaryColumn('text', { name: 'fleet_id' }) fleetId!: string;
  @Column('text', { nullable: true }) name!: string | null;
  @Column('text', { name: 'payload_format' }) payloadFormat!: string;
  @Column('boolean') routes!: boolean;
}

/** What a fleet has written on its last day (UTC), counted in its row: part of no version of the fleet. */
@Entity({ name: 'fleets' })
export class WrittenPositionsEntity {
  @PrimaryColumn('text', { name: 'fleet_id' }) fleetId!: string;
  /** Days since 1970. */
  @Column('int', { name: 'written_day' }) day!: number;
  @Column('int', { name: 'written_positions' }) positions!: number;
}

/** An API key of one fleet. The key itself is never stored, only its SHA-256. */
@Entity({ name: 'api_keys' })
export class ApiKeyEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { name: 'fleet_id' }) fleetId!: string;
  @Column('text', { nullable: true }) name!: string | null;
  @Column('text', { nullable: true }) prefix!: string | null;
  @Column('bytea') hash!: Buffer;
  @Column('text', { array: true }) scopes!: string[];
  @TimestampColumn('created_at') createdAt!: number;
  @TimestampColumn('revoked_at', { nullable: true }) revokedAt!: number | null;
}

/** A portal session. Of its code and its token only the SHA-256 is stored. */
@Entity({ name: 'portal_sessions' })
export class PortalSessionEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { name: 'fleet_id' }) fleetId!: string;
  /** The API key that made it; null: an operator did. */
  @Column('uuid', { name: 'key_id', nullable: true }) keyId!: string | null;
  /** The admin key that made it. */
  @Column('text', { name: 'admin_key_id', nullable: true }) adminKeyId!: string | null;
  @Column('text', { array: true }) scopes!: string[];
  @Column('text', { name: 'subscription_ids', array: true, nullable: true }) subscriptionIds!: string[] | null;
  @Column('text', { name: 'return_url', nullable: true }) returnUrl!: string | null;
  @Column('bytea', { name: 'code_hash', nullable: true }) codeHash!: Buffer | null;
  @TimestampColumn('code_expires_at') codeExpiresAt!: number;
  @Column('bytea', { name: 'token_hash', nullable: true }) tokenHash!: Buffer | null;
  @TimestampColumn('created_at') createdAt!: number;
  @TimestampColumn('expires_at') expiresAt!: number;
  @TimestampColumn('exchanged_at', { nullable: true }) exchangedAt!: number | null;
  @TimestampColumn('revoked_at', { nullable: true }) revokedAt!: number | null;
}

/** How the portal of a fleet looks, and which pages may frame it. */
@Entity({ name: 'fleet_portals' })
export class FleetPortalEntity extends VersionedRow {
  @PrimaryColumn('text', { name: 'fleet_id' }) fleetId!: string;
  /** In the address of the portal. It is not a secret, and says nothing of the fleet. */
  @Column('uuid', { name: 'portal_id' }) portalId!: string;
  @Column('text', { name: 'frame_ancestors', array: true }) frameAncestors!: readonly string[];
  @Column('text', { name: 'brand_color', nullable: true }) brandColor!: string | null;
  @Column('text', { name: 'logo_url', nullable: true }) logoUrl!: string | null;
  @Column('text', { name: 'color_scheme' }) colorScheme!: string;
}

/** The current version of a webhook subscription; its secrets only sealed. */
@Entity({ name: 'webhook_subscriptions' })
export class WebhookSubscriptionEntity extends VersionedRow {
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { name: 'fleet_id' }) fleetId!: string;
  @Column('text', { name: 'event_type' }) eventType!: string;
  @Column('text') url!: string;
  @Column('text', { nullable: true }) description!: string | null;
  @Column('jsonb') metadata!: Readonly<Record<string, string>>;
  @Column('text') status!: string;
  @Column('text', { name: 'disabled_reason', nullable: true }) disabledReason!: string | null;
  @Column('text', { name: 'payload_format' }) payloadFormat!: string;
  @Column('text', { name: 'device_ids', array: true, nullable: true }) deviceIds!: readonly string[] | null;
  @Column('jsonb', { nullable: true, transformer: AUTH }) auth!: BearerAuth | null;
  @Column('jsonb') headers!: readonly CustomHeader[];
  @Column('jsonb', { name: 'client_certificate', nullable: true }) clientCertificate!: ClientCertificate | null;
  @Column('int', { name: 'rate_limit_per_second', nullable: true }) rateLimitPerSecond!: number | null;
  @Column('text', { name: 'on_outage' }) onOutage!: string;
  @Column('boolean', { name: 'strict_order' }) strictOrder!: boolean;
  @Column('jsonb') secrets!: readonly SealedSecret[];
}

/** The current version of a geofence. Exactly one of circle and polygon is set. */
@Entity({ name: 'geofences' })
export class GeofenceEntity extends VersionedRow {
  @PrimaryColumn('uuid', { name: 'geofence_id' }) geofenceId!: string;
  @Column('text', { name: 'fleet_id' }) fleetId!: string;
  @Column('text') name!: string;
  @Column('jsonb', { nullable: true }) circle!: GeofenceCircle | null;
  @Column('jsonb', { nullable: true }) polygon!: GeofencePolygon | null;
}

/** A replay and, from `progressState` on, a copy of its newest record in webhook-delivery.replay-progress. */
@Entity({ name: 'webhook_replays' })
export class WebhookReplayEntity extends VersionedRow {
  @PrimaryColumn('uuid', { name: 'replay_id' }) replayId!: string;
  @Column('uuid', { name: 'subscription_id' }) subscriptionId!: string;
  @Column('text', { name: 'fleet_id' }) fleetId!: string;
  @Column('int') series!: number;
  @TimestampColumn('start_date') startDate!: number;
  @TimestampColumn('end_date') endDate!: number;
  @Column('text', { nullable: true }) status!: string | null;
  @Column('int', { name: 'status_code', nullable: true }) statusCode!: number | null;
  @Column('text', { name: 'event_type', nullable: true }) eventType!: string | null;
  @Column('text', { name: 'device_id', nullable: true }) deviceId!: string | null;
  @Column('uuid', { name: 'event_id', nullable: true }) eventId!: string | null;
  @Column('int', { name: 'rate_per_second' }) ratePerSecond!: number;
  @Column('boolean') cancelled!: boolean;
  @Column('text', { name: 'progress_state', nullable: true }) progressState!: string | null;
  @BigintColumn('matched', { nullable: true }) matched!: number | null;
  @BigintColumn('sent', { default: 0 }) sent!: number;
  @TimestampColumn('started_at', { nullable: true }) startedAt!: number | null;
  @TimestampColumn('progress_at', { nullable: true }) progressAt!: number | null;
}

/** The last series given to a subscription. It outlives the replays, so that a series is never given twice. */
@Entity({ name: 'webhook_replay_series' })
export class WebhookReplaySeriesEntity {
  @PrimaryColumn('uuid', { name: 'subscription_id' }) subscriptionId!: string;
  @Column('int', { name: 'last_series' }) lastSeries!: number;
}

/** The response to a request with an idempotency key, sealed. */
@Entity({ name: 'idempotency_keys' })
export class IdempotencyKeyEntity {
  @PrimaryColumn('text', { name: 'fleet_id' }) fleetId!: string;
  /** Method and path template. */
  @PrimaryColumn('text') route!: string;
  @PrimaryColumn('text') key!: string;
  @Column('text') sealed!: string;
  @Column('bigint', { name: 'outbox_ids', array: true }) outboxIds!: readonly string[];
  @TimestampColumn('created_at') createdAt!: number;
}

/** One change that waits to be published, or was published. A null value is a tombstone, or that of a published row. */
@Entity({ name: 'outbox' })
export class OutboxEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' }) id!: string;
  @Column('text') kind!: string;
  @Column('text') key!: string;
  @Column('text', { name: 'partition_key', nullable: true }) partitionKey!: string | null;
  @Column('jsonb', { nullable: true }) value!: object | null;
  @TimestampColumn('created_at') createdAt!: number;
  @TimestampColumn('published_at', { nullable: true }) publishedAt!: number | null;
}

/** One operational event of a subscription; the topic webhook.operations has all of them. */
@Entity({ name: 'subscription_operations' })
export class OperationalEventEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'subscription_id' }) subscriptionId!: string;
  @Column('text', { name: 'fleet_id' }) fleetId!: string;
  @Column('text') type!: string;
  @TimestampColumn('occurred_at') occurredAt!: number;
  @Column('text') reason!: string;
  @Column('uuid', { name: 'event_id', nullable: true }) eventId!: string | null;
  @BigintColumn('delivery_offset', { nullable: true }) deliveryOffset!: number | null;
  @Column('int', { name: 'status_code', nullable: true }) statusCode!: number | null;
  @Column('text', { name: 'error_code', nullable: true }) errorCode!: string | null;
}

/** Every mapped table: a data source that the stores work on is created with them. */
export const MANAGEMENT_ENTITIES = [
  FleetEntity,
  WrittenPositionsEntity,
  ApiKeyEntity,
  PortalSessionEntity,
  FleetPortalEntity,
  WebhookSubscriptionEntity,
  GeofenceEntity,
  WebhookReplayEntity,
  WebhookReplaySeriesEntity,
  IdempotencyKeyEntity,
  OutboxEntity,
  OperationalEventEntity,
] satisfies DataSourceOptions['entities'];

/** timestamptz in the database, epoch milliseconds in TypeScript. */
function TimestampColumn(name: string, options: ColumnOptions = {}): PropertyDecorator {
  const transformer: ValueTransformer = {
    from: (value: Date | null) => value?.getTime() ?? null,
    to: (value: unknown) => (typeof value === 'number' ? new Date(value) : value),
  };
  return Column({ ...options, name, type: 'timestamptz', precision: 3, transformer });
}

/** bigint in the database, which pg reads as text; a safe integer in TypeScript. */
function BigintColumn(name: string, options: ColumnOptions = {}): PropertyDecorator {
  const transformer: ValueTransformer = {
    from: (value: string | null) => (value === null ? null : Number(value)),
    to: (value: unknown) => value,
  };
  return Column({ ...options, name, type: 'bigint', transformer });
}
