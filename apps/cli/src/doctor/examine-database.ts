import type { DataSource } from 'typeorm';
import {
  compareSchema,
  createDataSource,
  databaseRefusal,
  missingTableRights,
  type SchemaComparison,
} from '@waypost/database';
import { messageOf } from '../terminal/message-of.js';
import { checkDatabase, checkRights, checkTables, type DatabaseFacts, type DatabaseLogin } from './database-checks.js';
import { type Finding, problem } from './finding.js';

const ABOUT = 'database';
const STATEMENT_TIMEOUT_MS = 10_000;

interface Seen {
  readonly login: DatabaseLogin;
  /** null: it cannot be used. */
  readonly schema: SchemaComparison | null;
  readonly missingRights: readonly string[];
  readonly findings: readonly Finding[];
}

/**
 * Reads only.
 * @param timeoutMs of each statement: a server may accept the login and then be silent
 */
export async function examineDatabases(
  logins: readonly DatabaseLogin[],
  now: () => number,
  timeoutMs = STATEMENT_TIMEOUT_MS,
): Promise<Finding[]> {
  const seen = await Promise.all(logins.map((login) => lookAt(login, now, timeoutMs)));
  const primary = seen.find(({ login, schema }) => login.writes && schema !== null)?.schema ?? null;
  const findings = seen.flatMap(({ login, schema, missingRights, findings: rest }) => [
    ...rest,
    ...(schema === null ? [] : [checkTables(login, schema, primary)]),
    ...checkRights(login, missingRights),
  ]);
  // Several logins see the same server.
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}

async function lookAt(login: DatabaseLogin, now: () => number, timeoutMs: number): Promise<Seen> {
  const unusable = (error: unknown): Seen => {
    return { login, schema: null, missingRights: [], findings: [refused(error, login)] };
  };
  let dataSource: DataSource;
  try {
    dataSource = await createDataSource(login.url, { statementTimeoutMs: timeoutMs }).initialize();
  } catch (error) {
    return unusable(error);
  }
  try {
    return await ask(dataSource, login, now);
  } catch (error) {
    return unusable(error);
  } finally {
    await dataSource.destroy();
  }
}

async function ask(dataSource: DataSource, login: DatabaseLogin, now: () => number): Promise<Seen> {
  const [facts] = await dataSource.query<DatabaseFacts[]>(
    `SELECT current_setting('server_version_num') AS version, current_setting('transaction_read_only') AS readonly,
            current_setting('server_encoding') AS encoding, current_setting('max_connections') AS connections,
            has_schema_privilege(current_schema(), 'CREATE') AS "mayCreateTables",
            rolsuper AS "isSuperuser", rolbypassrls AS "bypassesRowSecurity",
            (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at
       FROM pg_roles WHERE rolname = current_user`,
  );
  const findings = facts === undefined ? [] : checkDatabase(login, facts, now());
  const schema = await compareSchema(dataSource);
  return { login, schema, missingRights: await missingTableRights(dataSource, login.purposes), findings };
}

function refused(error: unknown, { variable }: DatabaseLogin): Finding {
  const refusal = databaseRefusal(error, variable);
  if (refusal !== null) return problem(ABOUT, `${variable} cannot be used`, refusal);
  const reason = messageOf(error);
  if (/read timeout|statement timeout/i.test(reason)) {
    const fix = `Look at the server of ${variable}: it may be overloaded, stopped or out of disk space.`;
    return problem(ABOUT, `it accepts connections and does not respond to statements: ${reason}`, fix);
  }
  return problem(ABOUT, `it cannot be reached: ${reason}`, `Check ${variable}, and that the port is open.`);
}
