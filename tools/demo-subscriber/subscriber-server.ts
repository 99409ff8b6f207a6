import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '@waypost/client';
import type { ReceivedEvent } from './delivery-tally.js';

export interface SubscriberServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface SubscriberServerOptions {
  /** Anything but 127.0.0.1 means this host as others see it, so the server listens on all its addresses. */
  readonly host: string;
  /** The preferred port, so that the subscriptions' URLs stay valid; another one if it is taken. */
  readonly port: number;
  readonly eventTypes: readonly string[];
  /** The signing secret of an event type's subscription; undefined while the subscription is being created. */
  readonly secretOf: (eventType: string) => string | undefined;
  readonly onVerified: (event: ReceivedEvent) => void;
  readonly onBad: () => void;
}

export const hookPath = '/hooks/';
const maxBodyBytes = 1_048_576;

/** Responds with 204 to verified and unknown events, 401 to a bad signature, and 503 (retry) while a secret is missing. */
export async function startSubscriberServer(options: SubscriberServerOptions): Promise<SubscriberServer> {
  const server = createServer((request, response) => {
    receive(request, options).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    );
  });
  const address = options.host === '127.0.0.1' ? options.host : '0.0.0.0';
  const port = await listen(server, address, options.port).catch(() => listen(server, address, 0));
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The status code for a request. */
async function receive(
  request: IncomingMessage,
  { eventTypes, secretOf, onVerified, onBad }: SubscriberServerOptions,
): Promise<number> {
  const body = await bodyOf(request);
  if (request.method !== 'POST' || body === null) return 400;
  const eventType = (request.url ?? '').slice(hookPath.length);
  if (!eventTypes.includes(eventType)) return 204;
  const secret = secretOf(eventType);
  if (secret === undefined) return 503;
  const verification = await verify(body, request.headers, secret);
  if (!verification.ok) {
    onBad();
    return 401;
  }
  onVerified(verification.event as ReceivedEvent);
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

function listen(server: Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
