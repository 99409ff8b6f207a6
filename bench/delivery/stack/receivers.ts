import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BenchStack } from '../../shared/stack/bench-stack.js';
import { type NameServer, startNameServer } from './name-server.js';

/** What the sink needs to speak TLS. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** How the measured applications reach the sink by name and over TLS. */
export interface Receivers {
  readonly nameServer: NameServer;
  readonly certificate: Certificate;
  /** Of webhook-delivery and public-api. */
  readonly env: Readonly<Record<string, string>>;
}

export async function openReceivers({ file }: Pick<BenchStack, 'file'>): Promise<Receivers> {
  const [keyFile, certFile] = [file('sink-key.pem'), file('sink-cert.pem')];
  const nameServer = await startNameServer();
  const preloaded = pathToFileURL(join(import.meta.dirname, 'use-name-server.js')).href;
  return {
    nameServer,
    certificate: certificateIn(keyFile, certFile),
    env: {
      WAYPOST_EGRESS_CA_FILE: certFile,
      NODE_OPTIONS: `--import=${preloaded}`,
      BENCH_NAME_SERVER: nameServer.address,
    },
  };
}

/** What the files hold, made if there is none. It trusts itself, so that it serves as the authority too. */
export function certificateIn(keyFile: string, certFile: string): Certificate {
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=waypost bench', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '30'];
  if (!existsSync(certFile))
    execFileSync('openssl', ['req', '-x509', ...newKey, ...subject, '-keyout', keyFile, '-out', certFile], {
      stdio: 'pipe',
    });
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') };
}
