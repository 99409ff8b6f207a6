import { createServer, type IncomingMessage, type Server } from 'node:http';
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
    receive(request, options).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    );
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

/** The status code for a request; what it verified is counted. */
async function receive(
  request: IncomingMessage,
  { eventTypes, secretOf, tally, now }: SubscriberServerOptions,
): Promise<number> {
  const body = await bodyOf(request);
  if (request.method !== 'POST' || body === null) return 400;
  const eventType = (request.url ?? '').slice(hookPath.length);
  if (!eventTypes.includes(eventType)) return 204;
  const secret = secretOf(eventType);
  if (secret === undefined) return 503;
  if (verifyDelivery(secret, request.headers, body).type === 'bad') {
    tally.bad();
    return 401;
  }
  tally.verified(JSON.parse(body.toString('utf8')) as ReceivedEvent, now());
  return 204;
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
