import { readFileSync } from 'node:fs';

/** PEM texts; the server's certificate is always verified. */
export interface DatabaseTls {
  readonly rejectUnauthorized: true;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface DatabaseAddress {
  readonly url: string;
  readonly ssl: false | DatabaseTls;
}

const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;
const ONCE = ['sslmode', 'ssl', ...Object.keys(FILES)];
/** Each of them verifies the server's certificate and name: a request for TLS never means less. */
const VERIFIED_MODES = ['require', 'verify-ca', 'verify-full'];
const MODES = 'sslmode must be disable or verify-full (require and verify-ca are taken as verify-full)';

/**
 * Extracts TLS from a libpq URL (`?sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem`). With TLS the
 * server's certificate and host name are always verified, whatever the mode; without these parameters the connection is
 * plain. The driver's own parser is not used: it has modes that trust any server, and it reads the environment.
 *
 * @throws Error for a URL with problems, and for files that cannot be read
 */
export function databaseAddress(databaseUrl: string): DatabaseAddress {
  const problems = databaseUrlProblems(databaseUrl);
  if (problems.length > 0) throw new Error(`The URL of the database is not usable: ${problems.join('; ')}`);
  const url = new URL(databaseUrl);
  const { searchParams: parameters } = url;
  const files = namedFiles(parameters);
  const ssl: false | DatabaseTls = (isOn(parameters) || files.length > 0) && {
    ...Object.fromEntries(files.map((name) => [FILES[name], readFileSync(parameters.get(name) ?? '', 'utf8')])),
    rejectUnauthorized: true,
  };
  for (const name of ONCE) parameters.delete(name);
  return { url: url.href, ssl };
}

/**
 * What is wrong with the TLS of a libpq URL, for people, without its values: what could end in plain text or trust any
 * certificate, and what contradicts itself. What the named files hold is not looked at.
 */
export function databaseUrlProblems(databaseUrl: string): readonly string[] {
  const { searchParams: parameters } = new URL(databaseUrl);
  const repeated = ONCE.filter((name) => parameters.getAll(name).length > 1);
  if (repeated.length > 0) return [`${repeated.join(', ')} may appear only once`];
  if (parameters.has('uselibpqcompat')) return ['uselibpqcompat would leave certificates unverified: remove it'];
  const problems = modeProblems(parameters);
  if (parameters.has('sslcert') !== parameters.has('sslkey')) problems.push('sslcert and sslkey belong together');
  return problems;
}

function modeProblems(parameters: URLSearchParams): string[] {
  const ssl = parameters.get('ssl');
  if (ssl !== null && !['true', '1', 'false', '0'].includes(ssl)) return ['ssl must be true or false'];
  const mode = parameters.get('sslmode');
  if (mode !== null && mode !== 'disable' && !VERIFIED_MODES.includes(mode)) return [MODES];
  const isOff = mode === 'disable' || ssl === 'false' || ssl === '0';
  const contradicts = isOff && (isOn(parameters) || namedFiles(parameters).length > 0);
  return contradicts ? ['it both asks for TLS and switches it off'] : [];
}

/** Of parameters without problems. */
function isOn(parameters: URLSearchParams): boolean {
  const mode = parameters.get('sslmode');
  return (mode !== null && mode !== 'disable') || ['true', '1'].includes(parameters.get('ssl') ?? '');
}

function namedFiles(parameters: URLSearchParams): (keyof typeof FILES)[] {
  return (Object.keys(FILES) as (keyof typeof FILES)[]).filter((name) => parameters.has(name));
}
