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
const VERIFIED_MODES = ['require', 'verify-ca', 'verify-full'];

/**
 * Extracts TLS from a libpq URL (`?sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem`). With TLS the
 * server's certificate and host name are always verified, whatever the mode; without these parameters the connection is
 * plain. The driver's own parser is not used: it has modes that trust any server, and it reads the environment.
 *
 * @throws Error for a mode that could end in plain text or trust any certificate, and for files that cannot be read
 */
export function databaseAddress(databaseUrl: string): DatabaseAddress {
  const url = new URL(databaseUrl);
  const { searchParams: parameters } = url;
  const mode = parameters.get('sslmode');
  const files = Object.keys(FILES).filter((name) => parameters.has(name)) as (keyof typeof FILES)[];
  const useTls = usesTls(mode, parameters.get('ssl'), files.length > 0);
  const ssl: false | DatabaseTls = useTls && {
    ...Object.fromEntries(files.map((name) => [FILES[name], readFileSync(parameters.get(name) ?? '', 'utf8')])),
    rejectUnauthorized: true,
  };
  for (const name of ['sslmode', 'ssl', 'uselibpqcompat', ...Object.keys(FILES)]) parameters.delete(name);
  return { url: url.href, ssl };
}

function usesTls(mode: string | null, ssl: string | null, hasFiles: boolean): boolean {
  if (mode === 'disable' || ssl === 'false' || ssl === '0') return false;
  if (mode !== null && !VERIFIED_MODES.includes(mode)) throw unsafe(`sslmode=${mode}`);
  if (ssl !== null && ssl !== 'true' && ssl !== '1') throw unsafe(`ssl=${ssl}`);
  return mode !== null || ssl !== null || hasFiles;
}

function unsafe(parameter: string): Error {
  return new Error(
    `DATABASE_URL with ${parameter} is refused: it could end in an unverified or plain connection. Use sslmode=verify-full.`,
  );
}
