import type { DataSource } from 'typeorm';
import type { KafkaUser } from '@waypost/contracts';
import { compareSchema, createDataSource, databaseRefusal, type SchemaComparison } from '@waypost/database';
import { CLOCKS_AGREE_WITHIN_MS } from '@waypost/domain';
import type { DatabaseSettings } from '../stack/stack-connections.js';
import { messageOf } from '../terminal/message-of.js';
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
}

/**
 * The logins that an application has.
 * @param user absent: one login for everything, or the one that the variables name for the tables
 */
export function databaseLogins({ url, schemaUrl, readUrl }: DatabaseSettings, user?: KafkaUser): DatabaseLogin[] {
  const makesTables = user === undefined || user === 'history-projector' || user === 'set-up';
  const readsPages = user === undefined || user === 'public-api';
  const logins: DatabaseLogin[] = [
    { variable: 'DATABASE_URL', url, makesTables: makesTables && schemaUrl === undefined, writes: true },
  ];
  if (makesTables && schemaUrl !== undefined)
    logins.push({ variable: 'DATABASE_SCHEMA_URL', url: schemaUrl, makesTables, writes: true });
  if (readsPages && readUrl !== undefined)
    logins.push({ variable: 'DATABASE_READ_URL', url: readUrl, makesTables: false, writes: false });
  return logins;
}

/** Reads only. */
export async function examineDatabase(login: DatabaseLogin, now: () => number): Promise<Finding[]> {
  let dataSource: DataSource;
  try {
    dataSource = await createDataSource(login.url).initialize();
  } catch (error) {
    return [unusable(error, login)];
  }
  try {
    const [facts] = await dataSource.query<DatabaseFacts[]>(
      `SELECT current_setting('server_version_num') AS version, current_setting('transaction_read_only') AS readonly,
              current_setting('server_encoding') AS encoding, current_setting('max_connections') AS connections,
              has_schema_privilege(current_schema(), 'CREATE') AS "mayCreateTables",
              rolsuper AS "isSuperuser", rolbypassrls AS "bypassesRowSecurity",
              (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at
         FROM pg_roles WHERE rolname = current_user`,
    );
    if (facts === undefined) return [];
    return [...checkDatabase(login, facts, now()), checkTables(await compareSchema(dataSource))];
  } catch (error) {
    return [unusable(error, login)];
  } finally {
    await dataSource.destroy();
  }
}

function unusable(error: unknown, { variable }: DatabaseLogin): Finding {
  const refusal = databaseRefusal(error, variable);
  const reason = messageOf(error);
  return refusal === null
    ? problem(ABOUT, `it cannot be reached: ${reason}`, `Check ${variable}, and that the port is open.`)
    : problem(ABOUT, `${variable} cannot be used`, refusal);
}

export function checkTables(schema: SchemaComparison): Finding {
  switch (schema.type) {
    case 'same':
      return ok(ABOUT, 'its tables match this version');
    case 'behind':
      return ok(ABOUT, `${String(schema.missing.length)} migrations of its tables are pending`);
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
