import { z } from 'zod';
import { databaseUrlProblems } from '@waypost/database/address';
import { asPemFile, asText, asUrl, required, withDefault } from './parse-config.js';

const PEM_FILES = [
  ['sslrootcert', asPemFile('CERTIFICATE')],
  ['sslcert', asPemFile('CERTIFICATE')],
  ['sslkey', asPemFile('PRIVATE KEY')],
] as const;

/**
 * DATABASE_URL: a libpq URL, TLS included: `?sslmode=verify-full&sslrootcert=/path/ca.pem&sslcert=...&sslkey=...`.
 * Modes that fall back to plain text or trust any certificate are refused; so is PGSSLMODE, which would be ignored.
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
    const problems = urlProblems(url);
    for (const problem of problems) refuse(`is not usable: ${problem}`);
    return problems.length > 0 || elsewhere !== undefined ? z.NEVER : { url };
  });

const asPostgresUrl = asUrl('postgres:', 'postgresql:');

/** DATABASE_READ_URL: a server that may lag behind, for pages of the history. TLS as in DATABASE_URL. */
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

/** DATABASE_SCHEMA_URL: a login that owns the tables, if that of DATABASE_URL does not. TLS as in DATABASE_URL. */
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
    for (const problem of url === undefined ? [] : urlProblems(url))
      ctx.addIssue({ code: 'custom', path: [name], message: `is not usable: ${problem}` });
  }
}

/** Finds what a connection would refuse, and files that are not PEM, which it would notice late. */
function urlProblems(url: string): string[] {
  const parameters = new URL(url).searchParams;
  const unreadable = PEM_FILES.filter(([name]) => parameters.has(name))
    .filter(([name, read]) => read(parameters.get(name) ?? '') === undefined)
    .map(([name]) => `${name} must name a readable PEM file`);
  return [...databaseUrlProblems(url), ...unreadable];
}
