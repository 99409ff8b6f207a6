import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createEgressClient, type EgressClient } from '@waypost/egress';
import type { Envelope, Reply } from '../../shared/processes/serve-requests.js';
import { percentilesOf, summarize, type Summary } from '../../shared/statistics.js';
import { type Certificate, certificateIn } from '../stack/receivers.js';
import type { ServerPorts } from './server.js';

/** What a POST costs the sending process. */
export interface ConnectionRun {
  readonly kind: ConnectionKind;
  readonly postsPerSecond: Summary;
  /** CPU milliseconds of the sender. */
  readonly cpuMsPerPost: Summary;
  /** Median of a round. */
  readonly postMs: Summary;
}

export const KINDS = [
  'http, kept',
  'https, kept',
  'http, new',
  'https, new, session resumed',
  'https, new, full handshake',
] as const;
export type ConnectionKind = (typeof KINDS)[number];

export interface ConnectionsOptions {
  readonly dataDir: string;
  readonly rounds: number;
  readonly seconds: number;
  /** POSTs at a time. */
  readonly inFlight: number;
  readonly onRound: (round: number) => void;
}

interface Round {
  readonly postsPerSecond: number;
  readonly cpuMsPerPost: number;
  readonly postMs: number;
}

const BODY = 'x'.repeat(1_024);
/** As many and as long as those of a delivery. */
const HEADERS = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`x-bench-${String(n)}`, 'v'.repeat(40)]));

/** The kinds take turns in each round, so that what else the machine does falls on all of them. */
export async function measureConnections(options: ConnectionsOptions): Promise<readonly ConnectionRun[]> {
  const { dataDir, rounds, onRound } = options;
  mkdirSync(dataDir, { recursive: true });
  const certificate = certificateIn(join(dataDir, 'sink-key.pem'), join(dataDir, 'sink-cert.pem'));
  const server = fork(join(import.meta.dirname, 'server.js'));
  try {
    const ports = await open(server, certificate);
    const measured = new Map<ConnectionKind, Round[]>(KINDS.map((kind) => [kind, []]));
    // The round before the first one warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [kind, found] of measured) {
        const one = await measureRound(kind, { ...options, ports, certificate });
        if (round > 0) found.push(one);
      }
      onRound(round);
    }
    return [...measured].map(([kind, found]) => ({
      kind,
      postsPerSecond: summarize(found.map(({ postsPerSecond }) => postsPerSecond)),
      cpuMsPerPost: summarize(found.map(({ cpuMsPerPost }) => cpuMsPerPost)),
      postMs: summarize(found.map(({ postMs }) => postMs)),
    }));
  } finally {
    server.disconnect();
  }
}

async function open(server: ReturnType<typeof fork>, request: Certificate): Promise<ServerPorts> {
  server.send({ id: 0, request } satisfies Envelope);
  const [reply] = (await once(server, 'message')) as [Reply];
  if (reply.type === 'failed') throw new Error(reply.message);
  return reply.result as ServerPorts;
}

interface RoundOptions extends ConnectionsOptions {
  readonly ports: ServerPorts;
  readonly certificate: Certificate;
}

async function measureRound(kind: ConnectionKind, options: RoundOptions): Promise<Round> {
  const { ports, certificate, seconds, inFlight } = options;
  const client = createEgressClient({
    allowedSubnets: ['127.0.0.0/8'],
    allowHttp: true,
    trustedCa: certificate.cert,
    // 0: no connection is used twice.
    keepAliveMs: kind.endsWith('kept') ? 30_000 : 0,
  });
  try {
    const url = urlOf(kind, ports);
    // The connections that are kept, or the session that is resumed, are there before.
    await postFor(seconds / 4, client, url, inFlight);
    const [usage, from] = [process.cpuUsage(), performance.now()];
    const times = await postFor(seconds, client, url, inFlight);
    const { user, system } = process.cpuUsage(usage);
    return {
      postsPerSecond: (times.length * 1_000) / (performance.now() - from),
      cpuMsPerPost: (user + system) / 1_000 / times.length,
      postMs: percentilesOf(times).p50,
    };
  } finally {
    await client.close();
  }
}

function urlOf(kind: ConnectionKind, { http, https, httpsInFull }: ServerPorts): string {
  if (kind.startsWith('http,')) return `http://127.0.0.1:${String(http)}/hook/0`;
  return `https://127.0.0.1:${String(kind.endsWith('full handshake') ? httpsInFull : https)}/hook/0`;
}

/** @returns the milliseconds of each POST */
async function postFor(seconds: number, client: EgressClient, url: string, inFlight: number): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + seconds * 1_000;
  const posting = Array.from({ length: inFlight }, async () => {
    while (performance.now() < until) times.push(await post(client, url));
  });
  await Promise.all(posting);
  return times;
}

/** @returns milliseconds */
async function post(client: EgressClient, url: string): Promise<number> {
  const from = performance.now();
  const result = await client.post({ url, headers: HEADERS, body: BODY, keepBody: false });
  if (result.type !== 'response' || result.statusCode !== 200) throw new Error(JSON.stringify(result));
  return performance.now() - from;
}
