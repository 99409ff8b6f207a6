import { z } from 'zod';
import { asPemFile, asText, asUrl, required, withDefault } from './parse-config.js';

/** Each of them verifies the server's certificate and name: a request for TLS never means less. */
const VERIFIED_MODES = ['require', 'verify-ca', 'verify-full'];
const ONCE = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey'] as const;
const MODES = 'sslmode must be disable or verify-full (require and verify-ca are taken as verify-full)';

/**
 * DATABASE_URL: a libpq URL, TLS included: `?sslmode=verify-full&sslrootcert=/path/ca.pem&sslcert=...&sslkey=...`. Modes that
 * fall back to plain text or that trust any certificate are refused; so is PGSSLMODE, which would be overlooked.
 */
export const databaseConfig: z.ZodType<{ readonly url: string }> = z
  .object({
    DATABASE_URL: required(
      asUrl('postgres:', 'postgresql:'),
      'a PostgreSQL URL, for example postgresql://user:password@host:5432/waypost',
    ),
    PGSSLMODE: withDefault(asText, 'unset', undefined),
  })
  .transform(({ DATABASE_URL: url, PGSSLMODE: elsewhere }, ctx) => {
    const refuse = (message: string, name = 'DATABASE_URL'): void => {
      ctx.addIssue({ code: 'custom', path: [name], message });
    };
    if (elsewhere !== undefined) refuse('is not read: put sslmode=... into DATABASE_URL and unset it', 'PGSSLMODE');
    const problems = tlsProblems(new URL(url).searchParams);
    for (const problem of problems) refuse(`is not usable: ${problem}`);
    return problems.length > 0 || elsewhere !== undefined ? z.NEVER : { url };
  });

const asPostgresUrl = asUrl('postgres:', 'postgresql:');

/** DATABASE_READ_URL: a server that may lag behind, from which pages of the history are read. TLS as of DATABASE_URL. */
export const databaseReadConfig: z.ZodType<{ readonly readUrl: string | undefined }> = z
  .object({
    DATABASE_READ_URL: withDefault(
      asPostgresUrl,
      'a PostgreSQL URL of a standby, or unset to read from DATABASE_URL',
      undefined,
    ),
  })
  .superRefine(refuseUnsafe)
  .transform(({ DATABASE_READ_URL: readUrl }) => ({ readUrl }));

/** DATABASE_SCHEMA_URL: a login that owns the tables, if that of DATABASE_URL does not. TLS as of DATABASE_URL. */
export const databaseSchemaConfig: z.ZodType<{ readonly schemaUrl: string | undefined }> = z
  .object({
    DATABASE_SCHEMA_URL: withDefault(
      asPostgresUrl,
      'a PostgreSQL URL of the login that owns the tables, or unset if DATABASE_URL has it',
      undefined,
    ),
  })
  .superRefine(refuseUnsafe)
  .transform(({ DATABASE_SCHEMA_URL: schemaUrl }) => ({ schemaUrl }));

function refuseUnsafe(urls: Readonly<Record<string, string | undefined>>, ctx: z.RefinementCtx): void {
  for (const [name, url] of Object.entries(urls)) {
    for (const problem of url === undefined ? [] : tlsProblems(new URL(url).searchParams))
      ctx.addIssue({ code: 'custom', path: [name], message: `is not usable: ${problem}` });
  }
}

function tlsProblems(parameters: URLSearchParams): string[] {
  const repeated = ONCE.filter((name) => parameters.getAll(name).length > 1);
  if (repeated.length > 0) return [`${repeated.join(', ')} may stand there once only`];
  if (parameters.has('uselibpqcompat')) return ['uselibpqcompat would leave certificates unverified: remove it'];
  return [...modeProblems(parameters), ...fileProblems(parameters)];
}

function modeProblems(parameters: URLSearchParams): string[] {
  const ssl = parameters.get('ssl');
  if (ssl !== null && !['true', '1', 'false', '0'].includes(ssl)) return ['ssl must be true or false'];
  const mode = parameters.get('sslmode');
  if (mode !== null && mode !== 'disable' && !VERIFIED_MODES.includes(mode)) return [MODES];
  const off = mode === 'disable' || ssl === 'false' || ssl === '0';
  const on = (mode !== null && mode !== 'disable') || ssl === 'true' || ssl === '1';
  const named = ['sslrootcert', 'sslcert', 'sslkey'].some((name) => parameters.has(name));
  return off && (on || named) ? ['it both asks for TLS and switches it off'] : [];
}

function fileProblems(parameters: URLSearchParams): string[] {
  const unreadable = [
    ['sslrootcert', asPemFile('CERTIFICATE')],
    ['sslcert', asPemFile('CERTIFICATE')],
    ['sslkey', asPemFile('PRIVATE KEY')],
  ] as const;
  const problems = unreadable
    .filter(([name, read]) => parameters.has(name) && read(parameters.get(name) ?? '') === undefined)
    .map(([name]) => `${name} must name a readable PEM file`);
  if (parameters.has('sslcert') !== parameters.has('sslkey')) problems.push('sslcert and sslkey belong together');
  return problems;
}
