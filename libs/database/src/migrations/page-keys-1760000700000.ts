import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexOnline } from './online-index.js';

/**
 * Indexes on hashes: the eight need less space than the previous five, and one of them selects exactly the deliveries of any
 * two filters (docs/decisions/0024-pages-at-scale.md). Existing days are indexed again, while they are written.
 */
export class PageKeys1760000700000 implements MigrationInterface {
  readonly name = 'PageKeys1760000700000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // Some of the new ones have the name of an old one: only of a first run it is an old one that is dropped.
    const [first] = (await queryRunner.query(`SELECT to_regclass('${LAST_DROPPED}') IS NOT NULL AS run`)) as readonly [
      { readonly run: boolean },
    ];
    if (first.run) for (const { name } of BEFORE) await queryRunner.query(`DROP INDEX IF EXISTS ${name}`);
    for (const key of KEYS) await createIndexOnline(queryRunner, { table: 'deliveries', ...key });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { name } of KEYS) await queryRunner.query(`DROP INDEX ${name}`);
    for (const { name, columns } of BEFORE) await queryRunner.query(`CREATE INDEX ${name} ON deliveries ${columns}`);
  }
}

const FLEET = 'hashtextextended(fleet_id, 0)';
const FLEET_STATUS = `hashtextextended(status, ${FLEET})`;
const FLEET_CODE = `hashint4extended(status_code, ${FLEET})`;

const KEYS = [
  { name: 'deliveries_by_status', columns: `${FLEET_STATUS}, first_attempt_at` },
  { name: 'deliveries_by_code', columns: `hashint4extended(status_code, ${FLEET_STATUS}), first_attempt_at` },
  { name: 'deliveries_by_type', columns: `hashtextextended(event_type, ${FLEET_STATUS}), first_attempt_at` },
  {
    name: 'deliveries_by_type_and_code',
    columns: `hashtextextended(event_type, ${FLEET_CODE}), first_attempt_at, hashtext(status)`,
  },
  {
    name: 'deliveries_by_subscription',
    columns: `hashtextextended(subscription_id, ${FLEET_STATUS}), first_attempt_at, hashtext(event_type)`,
  },
  {
    name: 'deliveries_by_subscription_and_type',
    columns: `hashtextextended(subscription_id, hashtextextended(event_type, ${FLEET})), first_attempt_at`,
  },
  {
    name: 'deliveries_by_subscription_and_code',
    columns: `hashtextextended(subscription_id, ${FLEET_CODE}), first_attempt_at, hashtext(event_type), hashtext(status)`,
  },
  {
    name: 'deliveries_by_device',
    columns: `hashtextextended(device_id, ${FLEET}), first_attempt_at, hashtext(event_type), hashtext(subscription_id),
      hashtext(status), status_code`,
  },
];

const LAST_DROPPED = 'deliveries_by_status_code';
const KEYSET = 'first_attempt_at, event_id, series';

const BEFORE = [
  { name: 'deliveries_by_event_type', columns: `(fleet_id, event_type, ${KEYSET})` },
  { name: 'deliveries_by_device', columns: `(fleet_id, device_id, ${KEYSET})` },
  { name: 'deliveries_by_subscription', columns: `(fleet_id, subscription_id, ${KEYSET})` },
  { name: 'deliveries_by_status', columns: `(fleet_id, status, ${KEYSET})` },
  { name: LAST_DROPPED, columns: `(fleet_id, status_code, ${KEYSET}) WHERE status <> 'delivered'` },
];
