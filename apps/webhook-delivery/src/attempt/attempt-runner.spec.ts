import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  formatSigningSecret,
  sealClientSecret,
  sealSigningSecret,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';
import { createEgressClient, type EgressClient } from '@waypost/egress';
import { Webhook } from 'standardwebhooks';
import { subscriptionOf } from '../../../../test/support/samples.js';
import { createSubscriptionIndex } from '../subscriptions/subscription-directory.js';
import { createAttemptRunner } from './attempt-runner.js';
import { createBearerTokens } from './bearer-tokens.js';

const KEY = Buffer.alloc(32, 3);
const SECRETS = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

interface Call {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server;
let egress: EgressClient;
let calls: Call[];
let status: (call: Call) => number;

beforeEach(async () => {
  calls = [];
  status = () => 200;
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const call = { path: request.url, headers: request.headers, body };
      calls.push(call);
      response.writeHead(status(call), { 'retry-after': '3' });
      response.end(request.url === '/token' ? '{"access_token":"secret-token","expires_in":3600}' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  egress = createEgressClient({ allowedSubnets: ['127.0.0.0/8'], allowHttp: true });
});

afterEach(async () => {
  await egress.close();
  await new Promise((resolve) => server.close(resolve));
});

const url = (path: string): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}${path}`;

const aSubscription = (more: Partial<WebhookSubscription> = {}): WebhookSubscription =>
  subscriptionOf({
    id: 'sub-1',
    url: url('/hook'),
    secrets: SECRETS.map((secret, i) => ({
      sealed: sealSigningSecret(secret, KEY, Buffer.alloc(12, i), 'sub-1'),
      expiresAt: i === 0 ? null : Date.now() + 60_000,
    })),
    ...more,
  });

const delivery: WebhookDelivery = {
  eventId: '5b2f3c1e-0d0a-5f6e-9c51-2f4d3a1b0c9d',
  subscriptionId: 'sub-1',
  fleetId: 'fleet-1',
  deviceId: 'device-1',
  eventType: 'position',
  eventTime: 0,
  format: 'v1',
  body: '{"eventId":"5b2f3c1e-0d0a-5f6e-9c51-2f4d3a1b0c9d","name":"Zoë"}',
  createdAt: 0,
  series: 0,
  replayId: null,
};

const run = (subscription: WebhookSubscription | null, attempt = 2) => {
  const index = createSubscriptionIndex();
  if (subscription) index.put(subscription);
  const idle = () => Promise.resolve();
  const directory = { ...index, start: idle, stop: idle, caughtUp: idle };
  const tokens = createBearerTokens({ egress, sealingKey: KEY, now: Date.now });
  const runner = createAttemptRunner({ directory, egress, tokens, sealingKey: KEY, now: Date.now });
  return runner.run({ delivery, attempt, startedAt: Date.now(), signal: new AbortController().signal });
};

describe('an attempt', () => {
  it('POSTs the frozen body so that the public library verifies it with either secret of a rotation (R-19)', async () => {
    expect(await run(aSubscription())).toMatchObject({
      type: 'ended',
      auth: 'none',
      result: { type: 'response', statusCode: 200 },
    });
    const [call] = calls;
    expect(call?.body).toBe(delivery.body);
    expect(call?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-attempt': '2',
      'x-service-event-id': delivery.eventId,
    });
    for (const secret of SECRETS) {
      const webhook = new Webhook(formatSigningSecret(secret));
      expect(webhook.verify(call?.body ?? '', call?.headers as Record<string, string>)).toEqual(
        JSON.parse(delivery.body),
      );
    }
  });

  it('hands on the status and the Retry-After of the answer', async () => {
    status = () => 503;
    expect(await run(aSubscription())).toMatchObject({ result: { statusCode: 503, retryAfter: '3' } });
  });

  it('does not sign with an expired secret', async () => {
    const [current, old] = aSubscription().secrets;
    if (!current || !old) throw new Error('two secrets expected');
    await run(aSubscription({ secrets: [current, { ...old, expiresAt: Date.now() - 1 }] }));
    expect(String(calls[0]?.headers['x-service-signature']).match(/v1=/g)).toHaveLength(1);
  });

  it('carries a bearer token and forgets it when told to (R-23)', async () => {
    const sealedClientSecret = sealClientSecret('s', KEY, Buffer.alloc(12, 9), 'sub-1');
    const subscription = aSubscription({
      auth: { tokenUrl: url('/token'), clientId: 'c', sealedClientSecret, scope: null },
    });
    const ended = await run(subscription);
    expect(ended).toMatchObject({ type: 'ended', auth: 'bearer' });
    expect(calls.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/token', `Basic ${Buffer.from('c:s').toString('base64')}`],
      ['/hook', 'Bearer secret-token'],
    ]);
  });

  it('is a temporary failure without any request when the token endpoint refuses', async () => {
    status = ({ path }) => (path === '/token' ? 400 : 200);
    const sealedClientSecret = sealClientSecret('s', KEY, Buffer.alloc(12, 9), 'sub-1');
    const subscription = aSubscription({
      auth: { tokenUrl: url('/token'), clientId: 'c', sealedClientSecret, scope: null },
    });
    expect(await run(subscription)).toMatchObject({ result: { type: 'error', errorCode: 'token_error' } });
    expect(calls.map(({ path }) => path)).toEqual(['/token']);
  });

  it('sends nothing unsigned when no secret can be opened', async () => {
    const secrets = [
      { sealed: sealSigningSecret(Buffer.alloc(32), Buffer.alloc(32, 9), Buffer.alloc(12), 'sub-1'), expiresAt: null },
    ];
    expect(await run(aSubscription({ secrets }))).toMatchObject({
      result: { type: 'error', errorCode: 'secret_unreadable' },
    });
    expect(calls).toEqual([]);
  });

  it('of a deleted subscription is refused without a request', async () => {
    expect(await run(null)).toMatchObject({ result: { type: 'error', errorCode: 'subscription_deleted' } });
    expect(calls).toEqual([]);
  });
});
