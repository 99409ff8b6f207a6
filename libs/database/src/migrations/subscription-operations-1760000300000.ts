import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What happened to the deliveries of a subscription, for its owner to look at. */
export class SubscriptionOperations1760000300000 implements MigrationInterface {
  readonly name = 'SubscriptionOperations1760000300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE subscription_operations');
  }
}

const UP = [
  // No reference to webhook_subscriptions: an event may come after the deletion, and must not fail for it.
  `CREATE TABLE subscription_operations (
     id uuid PRIMARY KEY,
     subscription_id uuid NOT NULL,
     fleet_id text NOT NULL,
     type text NOT NULL,
     occurred_at timestamptz(3) NOT NULL,
     reason text NOT NULL,
     event_id uuid,
     delivery_offset bigint,
     status_code integer,
     error_code text
   )`,
  'CREATE INDEX subscription_operations_page ON subscription_operations (subscription_id, occurred_at, id)',
  'CREATE INDEX subscription_operations_of_type ON subscription_operations (subscription_id, type, occurred_at, id)',
  // For the retention alone: rows come in about the order of time.
  'CREATE INDEX subscription_operations_by_time ON subscription_operations USING brin (occurred_at)',
];
