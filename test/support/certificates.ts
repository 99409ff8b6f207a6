import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface LeafOptions {
  /** Of openssl. Default: `ec`, on P-256. */
  readonly newKey?: readonly string[];
  readonly commonName?: string;
  /** As openssl wants it: `DNS:hooks.example,IP:127.0.0.1`. */
  readonly subjectAltName: string;
  /** Negative: already expired. Default 2. */
  readonly validDays?: number;
}

export interface TestAuthority {
  readonly cert: string;
  /** An authority below this one. */
  intermediate(): TestAuthority;
  issue(options: LeafOptions): Certificate;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

/** A fresh key and a certificate that only trusts itself, made with the openssl command. */
export function makeSelfSigned(subjectAltName: string): Certificate {
  return selfSigned(['-subj', '/CN=waypost test', '-addext', `subjectAltName=${subjectAltName}`]);
}

/** A certificate authority of the test's own. */
export function makeAuthority(): TestAuthority {
  return authorityOf(selfSigned(['-subj', '/CN=waypost test authority']));
}

function selfSigned(subject: readonly string[]): Certificate {
  return inDirectory((path) => {
    const files = ['-keyout', path('key'), '-out', path('cert')];
    openssl('req', '-x509', ...NEW_KEY, '-nodes', '-days', '2', ...subject, ...files);
    return readPair(path);
  });
}

function authorityOf(authority: Certificate): TestAuthority {
  return {
    cert: authority.cert,
    intermediate: () => authorityOf(issue(authority, { subjectAltName: 'DNS:ca.example', isAuthority: true })),
    issue: (options) => issue(authority, options),
  };
}

interface IssueOptions extends LeafOptions {
  readonly isAuthority?: boolean;
}

function issue(authority: Certificate, options: IssueOptions): Certificate {
  const { subjectAltName, validDays = 2, newKey = NEW_KEY, commonName = 'waypost leaf', isAuthority = false } = options;
  return inDirectory((path) => {
    writeFileSync(path('ca-key'), authority.key);
    writeFileSync(path('ca'), authority.cert);
    const authorityUse = isAuthority ? ['-addext', 'basicConstraints=critical,CA:true'] : [];
    const subject = ['-subj', `/CN=${commonName}`, '-addext', `subjectAltName=${subjectAltName}`, ...authorityUse];
    openssl('req', ...newKey, '-nodes', ...subject, '-keyout', path('key'), '-out', path('request'));
    const signer = ['-CA', path('ca'), '-CAkey', path('ca-key'), '-days', String(validDays)];
    openssl('x509', '-req', '-in', path('request'), ...signer, '-copy_extensions', 'copy', '-out', path('cert'));
    return readPair(path);
  });
}

function inDirectory<T>(work: (path: (name: string) => string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'waypost-tls-'));
  try {
    return work((name) => join(directory, `${name}.pem`));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function readPair(path: (name: string) => string): Certificate {
  return { key: readFileSync(path('key'), 'utf8'), cert: readFileSync(path('cert'), 'utf8') };
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
