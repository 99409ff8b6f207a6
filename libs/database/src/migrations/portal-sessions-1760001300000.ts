import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions of the portal, and how it looks and who may frame it, per fleet. */
export class PortalSessions1760001300000 implements MigrationInterface {
  readonly name = 'PortalSessions1760001300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE portal_sessions, fleet_portals');
  }
}

const UP = [
  // Of code and token only the SHA-256. The code is removed when it is used: a second use finds nothing.
  `CREATE TABLE portal_sessions (
     id uuid PRIMARY KEY,
     fleet_id text NOT NULL REFERENCES fleets (fleet_id),
     key_id uuid NOT NULL REFERENCES api_keys (id),
     scopes text[] NOT NULL,
     subscription_ids text[],
     return_url text,
     code_hash bytea UNIQUE,
     code_expires_at timestamptz(3) NOT NULL,
     token_hash bytea UNIQUE,
     created_at timestamptz(3) NOT NULL,
     expires_at timestamptz(3) NOT NULL,
     exchanged_at timestamptz(3),
     revoked_at timestamptz(3)
   )`,
  'CREATE INDEX portal_sessions_page ON portal_sessions (fleet_id, created_at, id)',
  'CREATE INDEX portal_sessions_by_end ON portal_sessions (expires_at)',
  // Not columns of fleets: these are no settings of the stream, and are not in its topic.
  `CREATE TABLE fleet_portals (
     fleet_id text PRIMARY KEY REFERENCES fleets (fleet_id),
     portal_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
     frame_ancestors text[] NOT NULL DEFAULT '{}',
     brand_color text,
     logo_url text,
     color_scheme text NOT NULL DEFAULT 'auto',
     version integer NOT NULL DEFAULT 1,
     created_at timestamptz(3) NOT NULL,
     updated_at timestamptz(3) NOT NULL
   )`,
];
