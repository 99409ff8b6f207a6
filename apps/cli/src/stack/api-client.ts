import { CliError } from '../terminal/output.js';

export interface ApiClientOptions {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
}

/** The public API, as one fleet. */
export interface ApiClient {
  get(path: string, query: URLSearchParams): Promise<unknown>;
  post(path: string, body?: object): Promise<unknown>;
  patch(path: string, body: object): Promise<unknown>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

export function createApiClient(options: ApiClientOptions): ApiClient {
  const send = options.fetch ?? fetch;
  const headers = { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json' };
  const base = options.apiUrl.replace(/\/+$/, '');

  async function request(url: string, init: RequestInit): Promise<unknown> {
    let response: Response;
    try {
      response = await send(url, {
        ...init,
        headers,
        signal: AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
      });
    } catch (error) {
      throw new CliError(`The API at ${base} does not respond: ${reasonOf(error)}.`, 1, { cause: error });
    }
    const text = await response.text();
    if (!response.ok)
      throw new CliError(`The API rejected the request (${String(response.status)}): ${problemOf(text)}`);
    return JSON.parse(text);
  }

  return {
    get: (path, query) => request(`${base}${path}?${query.toString()}`, { method: 'GET' }),
    post: (path, body = {}) => request(base + path, { method: 'POST', body: JSON.stringify(body) }),
    patch: (path, body) => request(base + path, { method: 'PATCH', body: JSON.stringify(body) }),
  };
}

/** The `{ error: { code, message, details } }` of R-37, as a sentence. */
function problemOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as {
      readonly error?: { readonly message?: unknown; readonly details?: unknown };
    };
    const message = typeof error?.message === 'string' ? error.message : 'no reason given';
    return error?.details === undefined ? message : `${message} ${JSON.stringify(error.details)}`;
  } catch {
    return text.slice(0, 200);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
