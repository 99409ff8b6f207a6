import type { KafkaUser } from '@waypost/contracts';
import { API_ROLE, type LoginPurpose, PROJECTOR_ROLE, type SchemaComparison } from '@waypost/database';
import { CLOCKS_AGREE_WITHIN_MS } from '@waypost/domain';
import type { DatabaseSettings } from '../stack/stack-connections.js';
import { type Finding, ok, problem, warning } from './finding.js';

const ABOUT = 'database';
const MIN_VERSION = 14;
/** Two instances of public-api and of history-projector, as docs/operations.md counts them. */
const CONNECTIONS = 2 * (21 + 18);

export interface DatabaseFacts {
  readonly version: string;
  readonly readonly: string;
  readonly encoding: string;
  readonly connections: string;
  readonly mayCreateTables: boolean;
  readonly isSuperuser: boolean;
  readonly bypassesRowSecurity: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface DatabaseLogin {
  readonly variable: 'DATABASE_URL' | 'DATABASE_SCHEMA_URL' | 'DATABASE_READ_URL';
  readonly url: string;
  /** Migrations run with it. */
  readonly makesTables: boolean;
  readonly writes: boolean;
  /** What the applications do with it. */
  readonly purposes: readonly LoginPurpose[];
}

const PURPOSES: Readonly<Partial<Record<KafkaUser, readonly LoginPurpose[]>>> = {
  'public-api': [API_ROLE],
  'history-projector': [PROJECTOR_ROLE],
};

/**
 * The logins that an application has.
 * @param user absent: one login for everything, or the one that the variables name for the tables
 */
export function databaseLogins({ url, schemaUrl, readUrl }: DatabaseSettings, user?: KafkaUser): DatabaseLogin[] {
  const makesTables = user === undefined || user === 'history-projector' || user === 'set-up';
  const readsPages = user === undefined || user === 'public-api';
  const purposes = user === undefined ? ([API_ROLE, PROJECTOR_ROLE] as const) : (PURPOSES[user] ?? []);
  const logins: DatabaseLogin[] = [
    { variable: 'DATABASE_URL', url, makesTables: makesTables && schemaUrl === undefined, writes: true, purposes },
  ];
  if (makesTables && schemaUrl !== undefined)
    logins.push({ variable: 'DATABASE_SCHEMA_URL', url: schemaUrl, makesTables, writes: true, purposes: [] });
  if (readsPages && readUrl !== undefined)
    logins.push({
      variable: 'DATABASE_READ_URL',
      url: readUrl,
      makesTables: false,
      writes: false,
      purposes: ['pages'],
    });
  return logins;
}

/** @param primary the tables that a login which writes sees; null: there is none */
export function checkTables(
  { variable, writes }: DatabaseLogin,
  schema: SchemaComparison,
  primary: SchemaComparison | null,
): Finding {
  switch (schema.type) {
    case 'same':
      return ok(ABOUT, 'its tables match this version');
    case 'behind': {
      const pending = `${String(schema.missing.length)} migrations of its tables`;
      // Set-up brings the primary up to date, and with it its standby.
      const isAsPrimary = primary?.type === 'behind' && primary.missing.length >= schema.missing.length;
      if (writes || isAsPrimary) return ok(ABOUT, `${pending} are pending`);
      const fix = `Name a standby of the database of DATABASE_URL in ${variable}, and check its replication.`;
      return problem(ABOUT, `the database of ${variable} lacks ${pending}`, fix);
    }
    case 'ahead':
      return problem(
        ABOUT,
        `a newer version has changed its tables: ${schema.unknown.join(', ')}`,
        'Use that version: public-api of this version does not start.',
      );
  }
}

export function checkDatabase(login: DatabaseLogin, facts: DatabaseFacts, at: number): Finding[] {
  const { variable, makesTables, writes } = login;
  const version = Math.floor(Number(facts.version) / 10_000);
  const skewMs = facts.at - at;
  const findings = [
    version >= MIN_VERSION
      ? ok(ABOUT, `PostgreSQL ${String(version)}`)
      : problem(ABOUT, `PostgreSQL ${String(version)}`, `Upgrade it to ${String(MIN_VERSION)} or later.`),
  ];
  const check = (isGood: boolean, finding: Finding): void => {
    if (!isGood) findings.push(finding);
  };
  check(
    facts.readonly === 'off' || !writes,
    problem(ABOUT, 'it is read-only', `Name the primary in ${variable}, not a replica.`),
  );
  check(
    facts.encoding === 'UTF8',
    problem(ABOUT, `its encoding is ${facts.encoding}`, 'Create it with ENCODING UTF8.'),
  );
  check(
    facts.mayCreateTables || !makesTables,
    problem(
      ABOUT,
      `the login of ${variable} may not create tables`,
      'GRANT CREATE ON SCHEMA public to it, or name the login that owns the tables in DATABASE_SCHEMA_URL.',
    ),
  );
  check(
    Number(facts.connections) >= CONNECTIONS || !writes,
    warning(
      ABOUT,
      `max_connections=${facts.connections}`,
      `Set it to ${String(CONNECTIONS)} or more: two instances of each application need that many.`,
    ),
  );
  const exempt = facts.isSuperuser ? 'is a superuser' : 'has BYPASSRLS';
  check(
    !facts.isSuperuser && !facts.bypassesRowSecurity,
    warning(
      ABOUT,
      `the login of ${variable} ${exempt}`,
      'Row-level security, which keeps fleets apart, does not apply to it: use a login with neither SUPERUSER nor BYPASSRLS.',
    ),
  );
  check(
    Math.abs(skewMs) <= CLOCKS_AGREE_WITHIN_MS,
    warning(ABOUT, `its clock differs by ${String(Math.round(skewMs / 1_000))} s`, 'Synchronize the clocks (NTP).'),
  );
  return findings;
}

const SHOWN = 3;

/** @param missing such as `INSERT on outbox` */
export function checkRights({ variable, purposes }: DatabaseLogin, missing: readonly string[]): Finding[] {
  if (missing.length === 0) return [];
  const roles = [...new Set(purposes.map((purpose) => (purpose === 'pages' ? API_ROLE : purpose)))];
  const more = missing.length > SHOWN ? ` and ${String(missing.length - SHOWN)} more` : '';
  return [
    problem(
      ABOUT,
      `the login of ${variable} has no ${missing.slice(0, SHOWN).join(', ')}${more}`,
      `GRANT ${roles.join(', ')} TO it. If that does not help, run set-up --tables, which grants these roles their rights.`,
    ),
  ];
}
