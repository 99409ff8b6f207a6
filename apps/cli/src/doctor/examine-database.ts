import type { DataSource } from 'typeorm';
import type { KafkaUser } from '@waypost/contracts';
import { createDataSource, databaseRefusal } from '@waypost/database';
import { SKEW_LIMIT_MS } from './examine-registry.js';
import { type Finding, ok, problem, warning } from './finding.js';

const ABOUT = 'database';
const MIN_VERSION = 14;
/** Two instances of public-api and of history-projector, as docs/operations.md counts them. */
const CONNECTIONS = 2 * (21 + 18);

interface Facts {
  readonly version: string;
  readonly readonly: string;
  readonly encoding: string;
  readonly connections: string;
  readonly mayCreateTables: boolean;
  readonly at: number;
}

export interface DatabaseLogin {
  readonly variable: 'DATABASE_URL' | 'DATABASE_SCHEMA_URL';
  readonly url: string;
  /** Migrations run with it. */
  readonly makesTables: boolean;
}

/**
 * The logins that an application has.
 * @param user absent: one login for everything, or the one that the variables name for the tables
 */
export function databaseLogins(
  { url, schemaUrl }: { readonly url: string; readonly schemaUrl: string | undefined },
  user?: KafkaUser,
): DatabaseLogin[] {
  const makesTables = user === undefined || user === 'history-projector' || user === 'set-up';
  const own = { variable: 'DATABASE_URL', url, makesTables: makesTables && schemaUrl === undefined } as const;
  if (!makesTables || schemaUrl === undefined) return [own];
  return [own, { variable: 'DATABASE_SCHEMA_URL', url: schemaUrl, makesTables }];
}

/** Reads only. */
export async function examineDatabase(login: DatabaseLogin, now: () => number): Promise<Finding[]> {
  let dataSource: DataSource;
  try {
    dataSource = await createDataSource(login.url).initialize();
  } catch (error) {
    const refusal = databaseRefusal(error, login.variable);
    const reason = error instanceof Error ? error.message : String(error);
    return [
      refusal === null
        ? problem(ABOUT, `it cannot be reached: ${reason}`, `Check ${login.variable}, and that the port is open.`)
        : problem(ABOUT, `${login.variable} cannot be used`, refusal),
    ];
  }
  try {
    const [facts] = await dataSource.query<Facts[]>(
      `SELECT current_setting('server_version_num') AS version, current_setting('transaction_read_only') AS readonly,
              current_setting('server_encoding') AS encoding, current_setting('max_connections') AS connections,
              has_schema_privilege(current_schema(), 'CREATE') AS "mayCreateTables",
              (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`,
    );
    return facts === undefined ? [] : checkDatabase(login, facts, now());
  } finally {
    await dataSource.destroy();
  }
}

function checkDatabase({ variable, makesTables }: DatabaseLogin, facts: Facts, at: number): Finding[] {
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
  check(facts.readonly === 'off', problem(ABOUT, 'it is read-only', `Name the primary in ${variable}, not a replica.`));
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
    Number(facts.connections) >= CONNECTIONS,
    warning(
      ABOUT,
      `max_connections=${facts.connections}`,
      `Set it to ${String(CONNECTIONS)} or more: two instances of each application need as many.`,
    ),
  );
  check(
    Math.abs(skewMs) <= SKEW_LIMIT_MS,
    warning(ABOUT, `its clock differs by ${String(Math.round(skewMs / 1_000))} s`, 'Synchronize the clocks (NTP).'),
  );
  return findings;
}
