import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { formatApiKey, hashApiKey } from '@waypost/domain';
import { createMemoryDeliveryStore, createMemoryPathStore } from '@waypost/history-store';
import { API_KEY_SCOPES, type ApiKeyRecord } from '@waypost/management-store';
import { configureHttp } from '../configure-http.js';
import type { ApiDependencies } from '../dependencies.js';
import { HttpApiModule } from '../http-api.module.js';
import { SERVER_LIMITS, type ServerLimits } from '../security/server-limits.js';
import { undocumentedIn } from './documented-answer.js';

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
}

export interface TestRequest {
  readonly method?: string;
  /** null sends no key; by default the key of fleet `acme` with every scope. */
  readonly key?: string | null;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The application on a port of its own, spoken to over HTTP; with no database unless one is given. Every answer is
 * held against the OpenAPI document: a test that receives another one fails.
 */
export interface TestApi {
  readonly url: string;
  request(path: string, request?: TestRequest): Promise<TestAnswer>;
  /** Makes a key that this API knows. */
  addKey(fleetId: string, scopes?: readonly string[]): string;
  readonly errors: { event: string; fields: unknown }[];
  /** `GET /path` of each route that the running application has. */
  readonly routes: readonly string[];
  close(): Promise<void>;
}

export interface TestApiOptions extends Partial<Omit<ApiDependencies, 'store'>> {
  readonly v1Gone?: boolean;
  readonly trustedProxies?: readonly string[];
  readonly limits?: ServerLimits;
  readonly store?: Omit<ApiDependencies['store'], 'findApiKey'>;
  /** Finds the keys that `addKey` did not make. */
  readonly findApiKey?: ApiDependencies['store']['findApiKey'];
}

export async function startTestApi({
  v1Gone = false,
  trustedProxies = [],
  limits = SERVER_LIMITS,
  findApiKey = () => Promise.resolve(null),
  ...given
}: TestApiOptions = {}): Promise<TestApi> {
  const keys = new Map<string, ApiKeyRecord>();
  const errors: TestApi['errors'] = [];
  const module = HttpApiModule.on({
    ...defaults(errors),
    ...given,
    store: {
      ...(given.store ?? noStore),
      findApiKey: async (hash) => keys.get(hash.toString('hex')) ?? (await findApiKey(hash)),
    },
  });
  const app = await NestFactory.create<NestExpressApplication>(module, { logger: false, abortOnError: false });
  configureHttp(app, { v1Gone, trustedProxies, limits });
  await app.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${String((app.getHttpServer().address() as AddressInfo).port)}`;

  function addKey(fleetId: string, scopes: readonly string[] = API_KEY_SCOPES): string {
    const key = formatApiKey(randomBytes(32));
    const hash = hashApiKey(key);
    keys.set(hash.toString('hex'), { id: randomUUID(), fleetId, hash, scopes });
    return key;
  }

  const acme = addKey('acme');
  return {
    url,
    addKey,
    errors,
    routes: routesOf(app),
    request: (path, request = {}) => send(url + path, { key: acme, ...request }),
    close: () => app.close(),
  };
}

function defaults(errors: TestApi['errors']): Omit<ApiDependencies, 'store'> {
  const ignore = (): void => undefined;
  const error = (event: string, fields?: unknown): void => void errors.push({ event, fields });
  return {
    logger: { debug: ignore, info: ignore, warn: ignore, error },
    history: createMemoryDeliveryStore({ now: Date.now }).history,
    paths: createMemoryPathStore({ now: Date.now }).history,
    checkUrl: () => Promise.resolve({ type: 'accepted' }),
    untilPublished: () => Promise.resolve(),
    sealingKey: randomBytes(32),
    pageTokenKey: randomBytes(32),
    rateLimit: { perSecond: 1_000_000, burst: 1_000_000 },
    addressRateLimit: { perSecond: 1_000_000, burst: 1_000_000 },
    randomBytes,
    newId: randomUUID,
    now: Date.now,
  };
}

/** What a test does not give it must not use. */
const noStore = {
  findFleet: () => Promise.resolve(null),
  ...{ subscriptions: {}, operations: {}, replays: {}, geofences: {}, idempotency: {} },
} as unknown as Omit<ApiDependencies['store'], 'findApiKey'>;

async function send(url: string, { method = 'GET', key, json, raw, headers = {} }: TestRequest): Promise<TestAnswer> {
  const body = json === undefined ? raw : JSON.stringify(json);
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(typeof key === 'string' ? { authorization: `Bearer ${key}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const received = { status: answer.status, headers: answer.headers, body: asJson(await answer.text()) };
  const faults = undocumentedIn(method, new URL(url).pathname, received);
  if (faults.length > 0) throw new Error(`The answer is not as the OpenAPI document says: ${faults.join('; ')}`);
  return received;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

interface ExpressLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

function routesOf(app: NestExpressApplication): string[] {
  const { router } = app.getHttpAdapter().getInstance() as unknown as { router: { stack: ExpressLayer[] } };
  return router.stack.flatMap(({ route }) =>
    route === undefined ? [] : Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`),
  );
}
