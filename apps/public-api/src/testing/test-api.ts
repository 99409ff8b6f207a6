import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import { type DynamicModule, Module } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { DeliveryHistory, formatApiKey, hashApiKey, PathHistory } from '@waypost/domain';
import { DeliveryFigures, ResendableDeliveries, SubscriptionActivities } from '@waypost/history-store';
import { createMemoryDeliveryStore, createMemoryPathStore } from '@waypost/history-store/testing';
import {
  API_KEY_SCOPES,
  type ApiKeyRecord,
  ApiKeyStore,
  ChangeStores,
  FleetPortalStore,
  FleetStore,
  GeofenceStore,
  IdempotencyStore,
  type ManagementStore,
  OperationalEventStore,
  PortalSessionStore,
  ReplayStore,
  SubscriptionStore,
} from '@waypost/management-store';
import { type AppRuntime, CLOCK, MONOTONIC_CLOCK, Readiness, RuntimeModule } from '@waypost/platform';
import { silentLogger, type StreamsLogger } from '@waypost/streams';
import { AttemptLogModule } from '../attempt-stream/attempt-log.module.js';
import { AttemptLogReader } from '../attempt-stream/attempt-log-reader.js';
import type { PublicApiConfig } from '../config.js';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import type { ServerLimits } from '../http/server-limits.js';
import { HttpApiModule } from '../http-api.module.js';
import { configureHttp } from '../http-pipeline.js';
import type { OpenApiDocument } from '../openapi/openapi.types.js';
import { OpenApi } from '../openapi/openapi-document.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { PublishedChanges } from '../outbox/published-changes.js';
import { CHECK_URL, type CheckUrl } from '../subscriptions/subscriber-urls.js';
import { createDocumentCheck, type DocumentCheck } from './document-check.js';
import { finishedLog } from './finished-log.js';

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
}

/** What an error response says, without the id of its request. */
export function refusalOf({ status, body }: TestAnswer): { status: number; code: string; message: string } {
  const { code, message } = (body as { error: { code: string; message: string } }).error;
  return { status, code, message };
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
 * The application on a port of its own, called over HTTP; without a database unless one is given. Every response is
 * checked against the OpenAPI document: a test that receives another one fails.
 */
export interface TestApi {
  readonly url: string;
  readonly document: OpenApiDocument;
  request(path: string, request?: TestRequest): Promise<TestAnswer>;
  /** Creates a key that this API knows. */
  addKey(fleetId: string, scopes?: readonly string[]): string;
  readonly errors: { event: string; fields: unknown }[];
  /** `GET /path` of each route that the running application has. */
  readonly routes: readonly string[];
  close(): Promise<void>;
}

type FindApiKey = (hash: Buffer) => Promise<ApiKeyRecord | null>;

type HttpConfig = PublicApiConfig['http'];

const PLENTY: HttpConfig['fleetLimits'] = {
  subscriptions: 1_000,
  deviceIds: 100_000,
  apiKeys: 1_000,
  portalSessions: 1_000,
  writtenPositions: 10_000_000,
  startedReplays: 10_000,
};

export interface TestApiOptions
  extends
    Partial<Omit<HttpConfig, 'fleetLimits'>>,
    Partial<Pick<PublicApiConfig, 'sealingKeys' | 'pageTokenKeys' | 'mapTiles'>> {
  readonly fleetLimits?: Partial<HttpConfig['fleetLimits']>;
  readonly logger?: StreamsLogger;
  readonly now?: () => number;
  readonly limits?: ServerLimits;
  readonly history?: DeliveryHistory;
  readonly figures?: DeliveryFigures;
  readonly paths?: PathHistory;
  readonly activities?: SubscriptionActivities;
  readonly resendable?: ResendableDeliveries;
  /** Empty, and over at once, unless given: a stream of it ends. */
  readonly attemptLog?: AttemptLogReader;
  readonly checkUrl?: CheckUrl;
  readonly untilPublished?: (outboxIds: readonly string[]) => Promise<boolean>;
  readonly store?: Partial<ManagementStore>;
  /** Finds the keys that `addKey` did not create. */
  readonly findApiKey?: FindApiKey;
}

/** For specs whose tests each have an API of their own: starts it, and closes it after the test. */
export function startTestApiPerTest(defaults: TestApiOptions = {}): (options?: TestApiOptions) => Promise<TestApi> {
  let api: TestApi | undefined;
  let described: Described | undefined;
  afterEach(async () => {
    await api?.close();
    api = undefined;
  });
  return async (options) => {
    const started = await startApi({ ...defaults, ...options }, described);
    described = started.described;
    return (api = started.api);
  };
}

/** What an API answers is described by its handlers alone: building it takes half of the start, and is done once per file. */
interface Described {
  readonly openApi: OpenApi;
  readonly undocumentedIn: DocumentCheck;
}

/** Goes on with a clock that the test moves, as time does that passes on both. */
function monotonicClockOf(now: (() => number) | undefined): () => number {
  if (now === undefined) return () => performance.now();
  const startedAt = now();
  return () => performance.now() + now() - startedAt;
}

export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  return (await startApi(options)).api;
}

async function startApi(
  options: TestApiOptions,
  known?: Described,
): Promise<{ readonly api: TestApi; readonly described: Described }> {
  const keys = new Map<string, ApiKeyRecord>();
  const errors: TestApi['errors'] = [];
  const { findApiKey = () => Promise.resolve(null), checkUrl = () => Promise.resolve({ type: 'accepted' }) } = options;
  const findAnyKey: FindApiKey = async (hash) => keys.get(hash.toString('hex')) ?? (await findApiKey(hash));
  const stores = TestStores.forRoot(options, findAnyKey);
  const testing = Test.createTestingModule({
    imports: [RuntimeModule.forRoot(runtimeOf(options, errors)), HttpApiModule],
  });
  if (known) testing.overrideProvider(OpenApi).useValue(known.openApi);
  const module = await testing
    .overrideModule(ApiDatabaseModule)
    .useModule(stores)
    .overrideModule(OutboxModule)
    .useModule(stores)
    .overrideModule(AttemptLogModule)
    .useModule(stores)
    .overrideProvider(CHECK_URL)
    .useValue(checkUrl)
    .overrideProvider(CLOCK)
    .useValue(options.now ?? Date.now)
    .overrideProvider(MONOTONIC_CLOCK)
    .useValue(monotonicClockOf(options.now))
    .compile();
  const app = module.createNestApplication<NestExpressApplication>({ logger: false });
  configureHttp(app, options.limits);
  await app.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${String((app.getHttpServer().address() as AddressInfo).port)}`;
  const openApi = app.get(OpenApi, { strict: false });
  const document = openApi.document();
  const undocumentedIn = known?.undocumentedIn ?? createDocumentCheck(document);

  function addKey(fleetId: string, scopes: readonly string[] = API_KEY_SCOPES): string {
    const key = formatApiKey(randomBytes(32));
    const hash = hashApiKey(key);
    keys.set(hash.toString('hex'), { id: randomUUID(), fleetId, hash, scopes });
    return key;
  }

  const acme = addKey('acme');
  const api: TestApi = {
    url,
    document,
    addKey,
    errors,
    routes: routesOf(app),
    async request(path, request = {}) {
      const answer = await send(url + path, { key: acme, ...request });
      const faults = undocumentedIn(request.method ?? 'GET', new URL(url + path).pathname, answer);
      if (faults.length > 0) throw new Error(`The response is not as the OpenAPI document says: ${faults.join('; ')}`);
      return answer;
    },
    close: () => app.close(),
  };
  return { api, described: { openApi, undocumentedIn } };
}

function runtimeOf(options: TestApiOptions, errors: TestApi['errors']): AppRuntime {
  const error = (event: string, fields?: unknown): void => void errors.push({ event, fields });
  const { sealingKeys = [randomBytes(32)], pageTokenKeys = [randomBytes(32)] } = options;
  const unlimited = { perSecond: 1_000_000, burst: 1_000_000 };
  const http: HttpConfig = {
    host: '127.0.0.1',
    port: 0,
    drainMs: 0,
    adminKeyHashes: options.adminKeyHashes ?? [],
    adminUrls: options.adminUrls ?? [],
    publicUrl: options.publicUrl,
    v1Gone: options.v1Gone ?? false,
    rateLimit: options.rateLimit ?? unlimited,
    addressRateLimit: options.addressRateLimit ?? unlimited,
    fleetLimits: { ...PLENTY, ...options.fleetLimits },
    maxStreamsPerFleet: options.maxStreamsPerFleet ?? 16,
    trustedProxies: options.trustedProxies ?? [],
  };
  // The check of URLs, which egress is for, is replaced; nothing else connects.
  const { mapTiles = null } = options;
  const config = { http, mapTiles, sealingKeys, pageTokenKeys, egress: {} } as unknown as PublicApiConfig;
  return {
    name: 'public-api',
    config,
    logger: (options.logger ?? { ...silentLogger, error }) as AppRuntime['logger'],
    metrics: new Registry(),
    onFatal: () => undefined,
    readiness: new Readiness(),
    stopping: new AbortController().signal,
  };
}

const NOTHING_RESENDABLE: ResendableDeliveries = {
  count: () => Promise.resolve({ deliveries: 0, hasMore: false }),
};

const NO_ACTIVITIES: SubscriptionActivities = {
  read: () => Promise.resolve({ lastSuccessAt: null, unacceptedSince: null, pending: 0, oldestPendingAt: null }),
};

/** In place of the database, the outbox and the attempt log. */
@Module({})
class TestStores {
  static forRoot(
    { history, figures, paths, activities, resendable, attemptLog, store, untilPublished }: TestApiOptions,
    findApiKey: FindApiKey,
  ): DynamicModule {
    const none = () => Promise.resolve({ type: 'figures', rows: [] } as const);
    const noFigures: DeliveryFigures = { read: none, sum: none };
    const { history: noDeliveries } = createMemoryDeliveryStore({ now: Date.now });
    const { history: noPaths } = createMemoryPathStore({ now: Date.now });
    const providers = [
      ...storeProviders(store ?? {}, findApiKey),
      { provide: DeliveryHistory, useValue: history ?? noDeliveries },
      { provide: DeliveryFigures, useValue: figures ?? noFigures },
      { provide: SubscriptionActivities, useValue: activities ?? NO_ACTIVITIES },
      { provide: ResendableDeliveries, useValue: resendable ?? NOTHING_RESENDABLE },
      { provide: PathHistory, useValue: paths ?? noPaths },
      { provide: AttemptLogReader, useValue: attemptLog ?? finishedLog([]) },
      { provide: PublishedChanges, useValue: { wait: untilPublished ?? (() => Promise.resolve(true)) } },
    ];
    return { module: TestStores, providers, exports: providers };
  }
}

/** A test must not use what it does not give. */
function storeProviders(given: Partial<ManagementStore>, findApiKey: FindApiKey) {
  const { fleets = { find: () => Promise.resolve(null) }, subscriptions = {}, replays = {}, geofences = {} } = given;
  const { portalSessions = { find: () => Promise.resolve(null) } } = given;
  const apiKeys = Object.assign(Object.create(given.apiKeys ?? null) as object, { find: findApiKey });
  return [
    { provide: FleetStore, useValue: fleets },
    { provide: ApiKeyStore, useValue: apiKeys },
    { provide: SubscriptionStore, useValue: subscriptions },
    { provide: ReplayStore, useValue: replays },
    { provide: GeofenceStore, useValue: geofences },
    { provide: PortalSessionStore, useValue: portalSessions },
    { provide: FleetPortalStore, useValue: given.fleetPortals ?? { of: () => Promise.resolve(null) } },
    { provide: ChangeStores, useValue: { fleets, apiKeys, subscriptions, replays, geofences, portalSessions } },
    { provide: OperationalEventStore, useValue: given.operationalEvents ?? {} },
    { provide: IdempotencyStore, useValue: given.idempotency ?? {} },
  ];
}

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
  return { status: answer.status, headers: answer.headers, body: asJson(await answer.text()) };
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
