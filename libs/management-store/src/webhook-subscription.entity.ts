import 'reflect-metadata';
import type { BearerAuth, SealedSecret } from '@waypost/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { epochMsColumn } from './epoch-ms-column.js';

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
