import { errorResponse, requestIdOf } from './errors.js';
import { OPERATIONS, type Operations, STREAMS } from './generated/api.js';
import { newIdempotencyKey } from './idempotency-key.js';
import { type Attempt, type RetryOptions, withRetries } from './retries.js';
import { followStream, type StreamEvent, type StreamId, type StreamInput, type StreamOptions } from './stream.js';

export interface ClientOptions {
  /** Where the API is, for example `https://waypost.example.com`. */
  readonly baseUrl: string | URL;
  /** `wp_...`: belongs to one fleet. Also the token of a portal session, `wps_...`, or an admin key, `wpa_...`. */
  readonly apiKey: string;
  /** For an admin key: the fleet that it acts for. */
  readonly fleetId?: string;
  readonly retry?: RetryOptions;
  /** How long one attempt may take; 30,000 by default. */
  readonly timeoutMs?: number;
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The `ETag` of the version to change: another one by now is a 412. */
  readonly ifMatch?: string;
  /** In place of a random one, to repeat a request from another process. */
  readonly idempotencyKey?: string;
}

export interface ApiResponse<Body> {
  readonly status: number;
  readonly body: Body;
  readonly etag: string | null;
  /** Names the request in the logs of the service. */
  readonly requestId: string | null;
}

export type OperationId = keyof Operations;
export type Input<Id extends OperationId> = Operations[Id]['input'];
export type Output<Id extends OperationId> = Operations[Id]['output'];

/** The input may be left out where nothing in it is required. */
type Arguments<Id extends OperationId> =
  Record<string, never> extends Input<Id>
    ? [input?: Input<Id>, options?: CallOptions]
    : [input: Input<Id>, options?: CallOptions];

/** The operations whose responses are pages. */
export type PagedOperationId = {
  [Id in OperationId]: (typeof OPERATIONS)[Id]['page'] extends null ? never : Id;
}[OperationId];

export type PageItem<Id extends PagedOperationId> =
  Output<Id> extends { readonly data: readonly (infer Item)[] } | { readonly events: readonly (infer Item)[] }
    ? Item
    : never;

type Methods = {
  readonly [Id in OperationId]: (...args: Arguments<Id>) => Promise<Output<Id>>;
};

/**
 * Every operation of the API as a method with its name in the OpenAPI document, which resolves to the body of the
 * response. All of them throw WaypostApiError, WaypostConnectionError, or the reason of an aborted signal.
 */
export interface WaypostClient extends Methods {
  /** The same with the status, the `ETag` and the id of the request. */
  call<Id extends OperationId>(operationId: Id, ...args: Arguments<Id>): Promise<ApiResponse<Output<Id>>>;
  /** The pages of a list, each requested when the one before it has been used. */
  pages<Id extends PagedOperationId>(operationId: Id, ...args: Arguments<Id>): AsyncGenerator<Output<Id>, void>;
  /** The items of all pages. */
  items<Id extends PagedOperationId>(operationId: Id, ...args: Arguments<Id>): AsyncGenerator<PageItem<Id>, void>;
  /** The events of a stream, which continues after the last one when the connection is lost, until it is aborted. */
  stream<Id extends StreamId>(
    streamId: Id,
    input?: StreamInput<Id>,
    options?: StreamOptions,
  ): AsyncGenerator<StreamEvent<Id>, void>;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly joined: readonly string[];
  readonly idempotencyKey: boolean;
  readonly ifMatch: boolean;
  readonly page: { readonly items: string; readonly next: string } | null;
}

type AnyInput = Readonly<Record<string, unknown>>;

/** A client of the HTTP API for the fleet of the API key. */
export function createWaypostClient(options: ClientOptions): WaypostClient {
  async function call(id: string, input: AnyInput = {}, callOptions: CallOptions = {}): Promise<ApiResponse<unknown>> {
    const request = requestOf(id);
    // Before the first attempt: what is wrong with it is a mistake of the caller, and no failure to repeat.
    const headers = headersOf(request, input, options, callOptions);
    const url = urlOf(options.baseUrl, request, input);
    const body = bodyOf(input);
    const isRepeatable = request.method !== 'POST' || request.idempotencyKey;
    return withRetries(
      (mayBeDone) => attempt(url, request, { headers, body, mayBeDone }, options, callOptions.signal),
      isRepeatable && callOptions.ifMatch === undefined,
      options.retry ?? {},
      callOptions.signal,
    );
  }

  async function* pages(
    id: string,
    input: AnyInput = {},
    callOptions: CallOptions = {},
  ): AsyncGenerator<unknown, void> {
    const { page } = requestOf(id);
    if (page === null) throw new TypeError(`${id} has no pages.`);
    let pageState = input['pageState'];
    do {
      const { body } = await call(id, { ...input, pageState }, callOptions);
      yield body;
      pageState = (body as AnyInput)[page.next];
    } while (typeof pageState === 'string');
  }

  async function* items(id: string, input?: AnyInput, callOptions?: CallOptions): AsyncGenerator<unknown, void> {
    const { page } = requestOf(id);
    for await (const body of pages(id, input, callOptions)) {
      yield* (body as Record<string, unknown[]>)[page?.items ?? ''] ?? [];
    }
  }

  function stream(id: string, input: AnyInput = {}, streamOptions: StreamOptions = {}): AsyncGenerator<unknown, void> {
    if (!Object.hasOwn(STREAMS, id)) throw new TypeError(`The API has no stream ${id}.`);
    checked({ 'last-event-id': streamOptions.lastEventId ?? '' });
    const request = {
      url: urlOf(options.baseUrl, STREAMS[id as StreamId], input),
      headers: checked(callerHeaders(options)),
      send: options.fetch ?? fetch,
      retry: options.retry ?? {},
    };
    return followStream(request, streamOptions);
  }

  const methods = Object.fromEntries(
    Object.keys(OPERATIONS).map((id) => [
      id,
      async (input?: AnyInput, callOptions?: CallOptions) => (await call(id, input, callOptions)).body,
    ]),
  );
  return { ...methods, call, pages, items, stream } as unknown as WaypostClient;
}

function requestOf(id: string): Request {
  if (!Object.hasOwn(OPERATIONS, id)) throw new TypeError(`The API has no operation ${id}.`);
  return OPERATIONS[id as OperationId];
}

/** @throws TypeError for an option that the operation does not take: without a word it would protect nothing */
function headersOf(
  request: Request,
  input: AnyInput,
  options: ClientOptions,
  { ifMatch, idempotencyKey }: CallOptions,
): Record<string, string> {
  if (ifMatch !== undefined && !request.ifMatch) throw new TypeError(`${request.path} does not take ifMatch.`);
  if (idempotencyKey !== undefined && !request.idempotencyKey)
    throw new TypeError(`${request.path} does not take idempotencyKey.`);
  return checked({
    accept: 'application/json',
    ...callerHeaders(options),
    ...(input['body'] === undefined ? {} : { 'content-type': 'application/json' }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    // The same in every attempt: the service carries the request out once.
    ...(request.idempotencyKey ? { 'idempotency-key': idempotencyKey ?? newIdempotencyKey() } : {}),
  });
}

/** @throws TypeError for a value with a line break, say, and without that value: it may be the key */
function checked(headers: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      throw new TypeError(`The value for the header ${name} has a character that headers cannot have.`);
    }
  }
  return headers;
}

/** Who calls, and for which fleet. */
function callerHeaders({ apiKey, fleetId }: ClientOptions): Record<string, string> {
  return {
    authorization: `Bearer ${apiKey}`,
    ...(fleetId === undefined ? {} : { 'x-waypost-fleet': fleetId }),
  };
}

/** @throws TypeError for what cannot be written as JSON */
function bodyOf({ body }: AnyInput): string | undefined {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new TypeError('The body cannot be written as JSON.', { cause });
  }
}

function urlOf(baseUrl: string | URL, { path, query, joined }: Request, input: AnyInput): URL {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = input[name];
    if (typeof value !== 'string') throw new TypeError(`${path} needs ${name}.`);
    // No URL keeps such a segment: the rest is the path of another operation.
    if (['', '.', '..'].includes(value)) throw new TypeError(`${path} cannot have '${value}' as ${name}.`);
    return encodeURIComponent(value);
  });
  const url = new URL(String(baseUrl).replace(/\/+$/, '') + filled);
  if (url.username !== '' || url.password !== '') throw new TypeError('baseUrl has a user name or a password.');
  for (const name of query) {
    const value = input[name];
    if (value === undefined || value === null) continue;
    if (Array.isArray(value) && joined.includes(name)) url.searchParams.set(name, joinedText(name, value));
    else for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, textOf(one));
  }
  return url;
}

/** @throws TypeError for an item with a comma: the service would read it as two */
function joinedText(name: string, items: readonly unknown[]): string {
  const texts = items.map(textOf);
  const split = texts.find((text) => text.includes(','));
  if (split !== undefined) throw new TypeError(`${name} cannot have '${split}': a comma separates its items.`);
  return texts.join(',');
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

interface Prepared {
  readonly headers: Record<string, string>;
  /** JSON. */
  readonly body: string | undefined;
  /** An attempt before this one may have done it. */
  readonly mayBeDone: boolean;
}

async function attempt(
  url: URL,
  { method }: Request,
  { headers, body: sent, mayBeDone }: Prepared,
  { fetch: send = fetch, timeoutMs = 30_000 }: ClientOptions,
  signal: AbortSignal | undefined,
): Promise<Attempt<ApiResponse<unknown>>> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(url, {
      method,
      headers,
      redirect: 'error',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    const body = parsed(text);
    // An attempt before this one deleted it, though its response was lost.
    const isDeleted = method === 'DELETE' && mayBeDone && response.status === 404;
    const isForeign = response.ok && text !== '' && body === undefined;
    if ((!response.ok && !isDeleted) || isForeign)
      return { type: 'refused', response: errorResponse(response, body, Date.now()) };
    const value = {
      status: isDeleted ? 204 : response.status,
      body: isDeleted ? undefined : body,
      etag: response.headers.get('etag'),
      requestId: requestIdOf(response),
    };
    return { type: 'done', value };
  } catch (cause) {
    return { type: 'unreachable', cause };
  }
}

/** undefined: no body, or what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
