import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeSelfSigned } from '../support/certificates.js';
import type { Attempt } from '../support/places.js';
import { type Answer, type Behavior, type ReceivedCall, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { findLeaks, type KeptBytes, type Secret, textSecret } from '../support/secret-search.js';
import { signatureProblem } from '../support/signature-problem.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';
import { type EverythingKept, everythingKept } from './everything-kept.js';

const fleet = 'secrets';
const resource = '/public/v1/webhook-subscriptions';

interface Created {
  readonly id: string;
  readonly secret: string;
}

const waypost = runningWaypost(sharedDataDir());
/** By the path of the URL. */
const subscriptions = new Map<string, Created>();
const secrets: Secret[] = [];
let headerValue = '';
const bearers = { firstRefused: '', accepted: '' };
const signatureProblems: string[] = [];
let receiver: Receiver;
let echoServer: Server;
/** Nobody trusts its certificate. */
let tlsServer: Server;
let kept: EverythingKept;
let attempts: readonly Attempt[];

/** With characters that URLs, forms and JSON each write in another way. */
function newSecret(name: string): string {
  const text = `${randomBytes(18).toString('base64')} "ü"%&`;
  secrets.push(textSecret(name, text));
  return text;
}

/** In a header, which takes printable ASCII. */
function newHeaderSecret(name: string): string {
  const text = `${randomBytes(18).toString('base64')} "x"%&`;
  secrets.push(textSecret(name, text));
  return text;
}

/** As PEM and as DER, and the lines of the PEM that have the private part: what is kept line by line is found too. */
function newClientCertificate(name: string): { certificates: string; privateKey: string } {
  const { cert, key } = makeSelfSigned('DNS:client.example');
  const lines = key.split('\n').filter((line) => !/^(-----.*)?$/.test(line));
  secrets.push(textSecret(`${name}, PEM`, key.trim()));
  secrets.push({ name: `${name}, DER`, bytes: Buffer.from(lines.join(''), 'base64') });
  for (const line of lines.slice(0, 2)) secrets.push(textSecret(`${name}, a line`, line));
  return { certificates: cert, privateKey: key };
}

/** As it is shown, and the bytes that sign. */
function keepSigningSecret(name: string, shown: string): void {
  secrets.push(textSecret(name, shown));
  secrets.push({ name: `${name}, its bytes`, bytes: Buffer.from(shown.replace('whsec_', ''), 'base64') });
}

function status(code: number, more: Partial<Answer & { type: 'respond' }> = {}): Answer {
  return { type: 'respond', status: code, ...more };
}

function issueToken(): Answer {
  const token = randomBytes(24).toString('base64url');
  secrets.push(textSecret(`access token ${String(receiver.callsTo('/token').length)}`, token));
  const body = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3_600 });
  return status(200, { headers: { 'content-type': 'application/json' }, body });
}

/** A server that returns what it was sent, wherever it can. */
function echo({ headers, body }: ReceivedCall, code: number): Answer {
  const authorization = headers.authorization ?? '';
  const credentials = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('latin1');
  return status(code, {
    headers: { 'www-authenticate': authorization, server: authorization, 'retry-after': authorization },
    body: JSON.stringify({ authorization, credentials, sent: body.toString() }),
  });
}

function echoHeader({ headers }: ReceivedCall): Answer {
  const value = String(headers['x-hook-key']);
  return status(400, {
    headers: { server: value, 'retry-after': value, 'www-authenticate': value },
    body: JSON.stringify({ value, encoded: encodeURIComponent(value) }),
  });
}

function protectedHook({ headers }: ReceivedCall): Answer {
  bearers.firstRefused ||= headers.authorization ?? '';
  if (headers.authorization === bearers.firstRefused) return status(401);
  bearers.accepted = headers.authorization ?? '';
  return status(200);
}

const behave: Behavior = (call) => {
  const path = call.path.replace(/\?.*/, '');
  if (path === '/token') return issueToken();
  if (path === '/refusing-token') return echo(call, 401);
  const problem = signatureProblem(call, subscriptions.get(path)?.secret ?? '');
  if (problem !== null) signatureProblems.push(`${path}: ${problem}`);
  if (path === '/protected') return protectedHook(call);
  if (path === '/echoes-header') return echoHeader(call);
  if (path === '/refuses') return echo(call, 400);
  return path === '/echoes' ? echo(call, 500) : status(200);
};

/** Sends every request back, which is not an HTTP response. */
async function startEchoServer(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', (bytes) => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function startTlsServer(): Promise<Server> {
  const server = createTlsServer({ ...makeSelfSigned('IP:127.0.0.1'), requestCert: true });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server, path: string, scheme = 'http'): string {
  return `${scheme}://127.0.0.1:${String((server.address() as AddressInfo).port)}${path}`;
}

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const { apiUrl, apiKeys } = waypost.info();
  const response = await fetch(new URL(path, apiUrl), {
    method,
    headers: {
      authorization: `Bearer ${apiKeys[fleet] ?? ''}`,
      'content-type': 'application/json',
      // The search keeps this process busy for long: a connection kept open would be closed by the server meanwhile.
      connection: 'close',
      // So that the answer, secrets included, is kept for a repeated request.
      ...(method === 'POST' ? { 'idempotency-key': randomBytes(8).toString('hex') } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function created(url: string, tokenUrl?: string, more: object = {}): Promise<void> {
  const path = new URL(url).pathname;
  const auth =
    tokenUrl === undefined
      ? { type: 'none' }
      : { type: 'bearer', tokenUrl, clientId: 'waypost', clientSecret: newSecret(`client secret of ${path}`) };
  const answer = await call('POST', resource, { eventTypes: ['position'], url, auth, ...more });
  expect(answer.status).toBe(201);
  const { data } = JSON.parse(answer.text) as { data: [Created] };
  keepSigningSecret(`signing secret of ${path}`, data[0].secret);
  subscriptions.set(path, data[0]);
}

function idOf(path: string): string {
  return subscriptions.get(path)?.id ?? '';
}

async function rotate(path: string, nth: number): Promise<void> {
  const answer = await call('POST', `${resource}/${idOf(path)}/rotate-secret`);
  expect(answer.status).toBe(200);
  const rotated = JSON.parse(answer.text) as Created;
  keepSigningSecret(`rotated signing secret ${String(nth)} of ${path}`, rotated.secret);
  subscriptions.set(path, rotated);
}

function publish(eventTime: string): Promise<void> {
  return waypost.publish(fleet, [{ deviceId: 'van-1', eventTime, latitude: 52.1, longitude: 11.6 }]);
}

async function readAttempts(): Promise<Attempt[]> {
  const lines = await waypost.cliLines<{ value: Attempt }>('read', 'webhook.attempts', '--until-end');
  return lines.map(({ value }) => value).filter(({ fleetId }) => fleetId === fleet);
}

function outcomesOf(path: string): string[] {
  return attempts
    .filter(({ subscriptionId }) => subscriptionId === idOf(path))
    .map(({ statusCode, errorCode }) => String(statusCode ?? errorCode));
}

/** Each check reads all attempts of the log. */
const READING_ALL = { timeoutMs: 60_000, longestIntervalMs: 1_000 };

/** Until each subscription has the attempts of both events. */
function attempted(least: number): Promise<void> {
  return until(async () => {
    attempts = await readAttempts();
    for (const path of subscriptions.keys()) expect(outcomesOf(path).length).toBeGreaterThanOrEqual(least);
  }, READING_ALL);
}

/** Until the fifth attempt of those that fail at the receiver, at the token endpoint, below HTTP and in TLS is in the log. */
function exhausted(): Promise<void> {
  return until(async () => {
    attempts = await readAttempts();
    const given = attempts.filter(({ decision }) => decision === 'attempts_exhausted');
    const exhaustedIds = new Set(given.map(({ subscriptionId }) => subscriptionId));
    for (const path of ['/echoes', '/without-token', '/garbles', '/untrusted'])
      expect(exhaustedIds).toContain(idOf(path));
  }, READING_ALL);
}

async function makeApiKey(): Promise<void> {
  const answer = await call('POST', '/public/v1/api-keys', { scopes: ['events:read'] });
  expect(answer.status).toBe(201);
  secrets.push(textSecret('API key made by the API', (JSON.parse(answer.text) as { key: string }).key));
}

/** Requests that are refused, with secrets in them. */
async function misuse(): Promise<void> {
  const { apiUrl } = waypost.info();
  const auth = { type: 'bearer', tokenUrl: 'ftp://nowhere', clientId: 'x', clientSecret: newSecret('refused secret') };
  const refused = await call('POST', resource, { eventTypes: ['position'], url: 'http://u:p@nowhere/', auth });
  expect(refused.status).toBe(400);
  const sending = {
    headers: [{ name: 'host', value: newHeaderSecret('refused header'), secret: true }],
    clientCertificate: { ...newClientCertificate('key of a refused certificate'), certificates: 'no PEM' },
  };
  const unsendable = await call('PATCH', `${resource}/${idOf('/accepts')}`, sending);
  expect(unsendable.status).toBe(400);
  refusals.push(unsendable.text);
  refusals.push(refused.text);
  const inQuery = await call('GET', `${resource}?secret=${encodeURIComponent(newSecret('secret in a query'))}`);
  expect(inQuery.status).toBe(400);
  const wrongKey = `wp_${randomBytes(32).toString('base64url')}`;
  secrets.push(textSecret('a key that is not one', wrongKey));
  const unknown = await fetch(new URL(resource, apiUrl), { headers: { authorization: `Bearer ${wrongKey}` } });
  expect(unknown.status).toBe(401);
  refusals.push(await unknown.text());
}
const refusals: string[] = [];

async function keepKeysOfTheInstallation(): Promise<void> {
  const keys = JSON.parse(await readFile(join(waypost.dataDir, 'keys.json'), 'utf8')) as Record<string, string>;
  for (const [name, base64] of Object.entries(keys)) {
    secrets.push(textSecret(name, base64), { name: `${name}, its bytes`, bytes: Buffer.from(base64, 'base64') });
  }
  secrets.push(textSecret('API key', waypost.info().apiKeys[fleet] ?? ''));
}

beforeAll(async () => {
  receiver = await startReceiver(behave);
  [echoServer, tlsServer] = [await startEchoServer(), await startTlsServer()];
  await waypost.createFleet(fleet);
  await keepKeysOfTheInstallation();
  await created(receiver.url('/accepts'));
  await created(receiver.url('/protected'), receiver.url('/token'));
  await created(receiver.url('/echoes'), receiver.url('/token'));
  await created(receiver.url('/refuses'), receiver.url('/token'));
  await created(receiver.url('/without-token'), receiver.url('/refusing-token'));
  await created(receiver.url('/garbled-token'), urlOf(echoServer, '/token'));
  await created(urlOf(echoServer, '/garbles'), receiver.url('/token'));
  headerValue = newHeaderSecret('secret header');
  const headers = [{ name: 'x-hook-key', value: headerValue, secret: true }];
  await created(receiver.url('/echoes-header'), undefined, { headers });
  const clientCertificate = newClientCertificate('key of a client certificate');
  await created(urlOf(tlsServer, '/untrusted', 'https'), undefined, { clientCertificate });
  await publish('2026-05-04T08:00:00.000Z');
  await attempted(1);
  await rotate('/accepts', 1);
  await rotate('/accepts', 2);
  await rotate('/protected', 1);
  const change = { auth: { type: 'bearer', tokenUrl: receiver.url('/token?new'), clientId: 'waypost' } };
  const patch = { auth: { ...change.auth, clientSecret: newSecret('changed client secret of /protected') } };
  expect((await call('PATCH', `${resource}/${idOf('/protected')}`, patch)).status).toBe(200);
  const renewed = { clientCertificate: newClientCertificate('key of a changed client certificate') };
  expect((await call('PATCH', `${resource}/${idOf('/untrusted')}`, renewed)).status).toBe(200);
  await makeApiKey();
  await misuse();
  await publish('2026-05-04T08:10:00.000Z');
  await attempted(2);
  await exhausted();
  kept = await everythingKept(waypost);
}, 180_000);

afterAll(async () => {
  echoServer.close();
  tlsServer.close();
  await receiver.close();
});

function placesNaming(places: readonly KeptBytes[], text: string): string[] {
  return places.filter(({ bytes }) => bytes.includes(text)).map(({ place }) => place);
}

describe('Deliveries with secrets of every kind', () => {
  it('were accepted, refused, failed and tried with a renewed token', () => {
    expect(new Set(outcomesOf('/accepts'))).toEqual(new Set(['200']));
    expect(outcomesOf('/protected').slice(0, 2)).toEqual(['401', '200']);
    expect(new Set(outcomesOf('/echoes'))).toEqual(new Set(['500']));
    expect(outcomesOf('/refuses')).toEqual(['400', '400']);
    expect(new Set(outcomesOf('/without-token'))).toEqual(new Set(['token_error']));
    expect(new Set(outcomesOf('/garbled-token'))).toEqual(new Set(['token_error']));
    expect(new Set(outcomesOf('/garbles'))).toEqual(new Set(['protocol_error']));
    expect(outcomesOf('/echoes-header')).toEqual(['400', '400']);
    expect(new Set(outcomesOf('/untrusted'))).toEqual(new Set(['tls_error']));
  });

  it('carried the signatures, the tokens and the secret header, so there was something to leak', () => {
    expect(signatureProblems).toEqual([]);
    const tokens = secrets.filter(({ name }) => name.startsWith('access token'));
    expect(tokens.map(({ bytes }) => `Bearer ${bytes.toString()}`)).toContain(bearers.accepted);
    expect(receiver.callsTo('/echoes-header')[0]?.headers['x-hook-key']).toBe(headerValue);
    expect(receiver.callsTo('/token?new').length).toBeGreaterThanOrEqual(1);
    expect(secrets.length).toBeGreaterThanOrEqual(30);
  });
});

describe('What is kept and shown (R-17, R-40)', () => {
  it('is not empty, so that the search is meaningful', () => {
    const id = idOf('/refuses');
    expect(placesNaming(kept.logs, id)).not.toEqual([]);
    expect(placesNaming(kept.adminAnswers, 'waypost_attempts_total')).not.toEqual([]);
    expect(kept.adminAnswers.length).toBeGreaterThanOrEqual(8);
    expect(placesNaming(kept.tables, id).length).toBeGreaterThanOrEqual(2);
    for (const topic of ['webhook.subscriptions', 'webhook.deliveries', 'webhook.attempts', 'webhook.operations']) {
      expect(placesNaming(kept.topics, idOf('/echoes'))).toContain(topic);
    }
  });

  it.each(['logs', 'adminAnswers', 'tables', 'topics'] as const)('in %s contains no secret', (where) => {
    expect(findLeaks(kept[where], secrets)).toEqual([]);
  });

  it('by the API contains none either', async () => {
    const list = await call('GET', resource);
    const one = await call('GET', `${resource}/${idOf('/protected')}`);
    const history = await call(
      'GET',
      '/public/v2/events?startDate=2020-01-01T00:00:00Z&endDate=2100-01-01T00:00:00Z&include=body',
    );
    const answers = [list, one, history].map(({ text }) => text);
    expect([list.status, one.status, history.status]).toEqual([200, 200, 200]);
    const places = [...answers, ...refusals].map((text) => ({ place: text.slice(0, 60), bytes: Buffer.from(text) }));
    expect(findLeaks(places, secrets)).toEqual([]);
  });
});
