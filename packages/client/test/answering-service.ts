import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import { type ClientOptions, createWaypostClient } from '../src/client.js';

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export const KEY = 'wp_test';
/** An empty last page of version 2. */
export const NO_PAGE = { status: 200, body: { data: [], nextPageState: null } };

/** A response, or null: the connection ends without one. */
export type Answer = {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
} | null;

/** Starts services for the tests of a file, and ends them after each test. */
export function answeringServices() {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function listen(onRequest: RequestListener): Promise<string> {
    const server = createServer(onRequest);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  /** A service that gives these answers in turn, the last one again and again, and a client of it. */
  async function build(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
    const received: Received[] = [];
    const baseUrl = await listen((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        respond(response, answers[Math.min(received.push({ method, url, headers, body }), answers.length) - 1] ?? null);
      });
    });
    const retry = { baseDelayMs: 1, ...options.retry };
    return { received, waypost: createWaypostClient({ baseUrl, apiKey: KEY, ...options, retry }) };
  }

  return { listen, build };
}

function respond(response: ServerResponse, answer: Answer): void {
  if (answer === null) return void response.destroy();
  const { status, headers = {}, body } = answer;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, headers).end(body === undefined ? undefined : text);
}

export function error(status: number, code: string, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: { error: { code, message: `It is ${code}.` } } };
}
