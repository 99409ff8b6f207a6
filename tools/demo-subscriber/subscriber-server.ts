import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DeliveryTally, ReceivedEvent } from './delivery-tally.js';
import { verifyDelivery } from './verify-delivery.js';

export interface SubscriberServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface SubscriberServerOptions {
  /** The port to have again, so that the subscriptions' URLs stay true; another one when it is taken. */
  readonly port: number;
  readonly eventTypes: readonly string[];
  /** The signing secret of an event type's subscription; undefined while it is being made. */
  readonly secretOf: (eventType: string) => string | undefined;
  readonly tally: DeliveryTally;
  readonly now: () => number;
}

export const hookPath = '/hooks/';
const maxBodyBytes = 1_048_576;

/**
 * Answers 2xx to what it verified and to event types that it does not know, 401 to a bad signature, and 503 ("try
 * again") to what it cannot verify yet.
 */
export async function startSubscriberServer(options: SubscriberServerOptions): Promise<SubscriberServer> {
  const server = createServer((request, response) => {
    receive(request, response, options).catch(() => response.destroy());
  });
  const port = await listen(server, options.port).catch(() => listen(server, 0));
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { eventTypes, secretOf, tally, now }: SubscriberServerOptions,
): Promise<void> {
  const body = await bodyOf(request);
  if (request.method !== 'POST' || body === null) { answer(response, 400); return; }
  const eventType = (request.url ?? '').slice(hookPath.length);
  if (!eventTypes.includes(eventType)) { answer(response, 204); return; }
  const secret = secretOf(eventType);
  if (secret === undefined) { answer(response, 503); return; }
  if (verifyDelivery(secret, request.headers, body).type === 'bad') {
    tally.bad();
    answer(response, 401); return;
  }
  tally.verified(JSON.parse(body.toString('utf8')) as ReceivedEvent, now());
  answer(response, 204);
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
