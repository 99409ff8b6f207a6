import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Stall } from '@waypost/streams';
import { portError } from '../boot-error.js';
import type { PartStatus } from '../lifecycle/lifecycle.js';
import type { RunningTasks } from '../runtime/running-tasks.js';

/** Health, readiness and metrics of one application, and commands from its own host only. */
export interface AdminServer {
  /** Resolves with the port that it listens on. */
  start(): Promise<number>;
  stop(): Promise<void>;
}

export interface AdminServerOptions {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly metrics: Registry;
  readonly readiness: () => { readonly ready: boolean; readonly parts: readonly PartStatus[] };
  readonly tasks: RunningTasks;
  readonly stalls: () => readonly Stall[];
}

export function createAdminServer({ host, port, metrics, readiness, tasks, stalls }: AdminServerOptions): AdminServer {
  new Gauge({
    name: 'waypost_ready',
    help: '1 while /health/ready responds with 200, else 0.',
    registers: [metrics],
    collect() {
      this.set(readiness().ready ? 1 : 0);
    },
  });
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isCommand(request)) {
      if (!isFromThisHost(request)) {
        sendJson(response, 403, { status: 'refused', reason: 'Commands are accepted only from the same host.' });
        return;
      }
      answerCommand(request.url ?? '', response, tasks);
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendJson(response, 405, { status: 'method not allowed' });
      return;
    }
    switch (request.url?.split('?')[0]) {
      case '/health/live':
        sendJson(response, 200, { status: 'ok' });
        return;
      case '/health/ready': {
        const { ready, parts } = readiness();
        // Still 200: the other partitions continue, and a restart would not help parked or stalled ones.
        const [parked, stalled] = [tasks.parked(), stalls()];
        const status = parked.length + stalled.length > 0 ? 'degraded' : 'ready';
        sendJson(response, ready ? 200 : 503, { status: ready ? status : 'not ready', parts, parked, stalled });
        return;
      }
      case '/tasks':
        sendJson(response, 200, { tasks: tasks.all() });
        return;
      case '/metrics':
        response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.metrics());
        return;
      default:
        sendJson(response, 404, { status: 'not found', try: ['/health/live', '/health/ready', '/metrics', '/tasks'] });
    }
  }

  return {
    start: () => listen(server, { host, port }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The content type keeps web pages away: a browser asks before it sends one that a form cannot. */
function isCommand({ method, url, headers }: IncomingMessage): boolean {
  const isOurs = headers['content-type'] === 'application/json';
  return method === 'POST' && isOurs && url?.startsWith('/tasks/') === true;
}

/** There is no login: commands require a loopback connection. A forwarded port or a shell in the container makes one. */
function isFromThisHost({ socket: { remoteAddress = '' } }: IncomingMessage): boolean {
  return /^(::ffff:)?127\./.test(remoteAddress) || remoteAddress === '::1';
}

/** `/tasks/<task>/<command>`, for a seek with `/<position>`, for a skip possibly with `/<offset>` or `/<offset>/<topic>` */
function answerCommand(url: string, response: ServerResponse, tasks: RunningTasks): void {
  const [, , task = '', command = '', argument, topic] = url.split('/').map(decodeURIComponent);
  const refusal = tasks.command(task, command, argument, topic);
  if (refusal === undefined) sendJson(response, 404, { status: 'not found' });
  else if (refusal === null) sendJson(response, 200, { status: 'done' });
  else sendJson(response, 409, { status: 'refused', reason: refusal });
}

function listen(server: Server, { host, port }: Pick<AdminServerOptions, 'host' | 'port'>): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(portError(error, { host, port, variable: 'WAYPOST_ADMIN_PORT' })));
    server.listen({ host, port }, () => resolve((server.address() as AddressInfo).port));
  });
}

function sendJson(response: ServerResponse, statusCode: number, body: unknown): void {
  response.writeHead(statusCode, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/**
 * The registry of one running application, with Node's default metrics. Modules register theirs in it (`new Counter({
 * ..., registers: [metrics] })`); prom-client's global registry is not used.
 */
export function createMetrics(app: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ app });
  collectDefaultMetrics({ register: registry });
  return registry;
}
