import { ContractsError } from './contracts-error.js';

export type RegistryAnswer =
  | { readonly type: 'ok'; readonly body: unknown }
  /** errorCode: the registry's own number; null when the answer is not the registry's. */
  | { readonly type: 'error'; readonly status: number; readonly errorCode: number | null; readonly message: string };

export interface RegistryHttp {
  /** Rejects with `registry_unavailable` when there is no answer, or a 5xx. */
  request(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<RegistryAnswer>;
  /** The error for an answer that means neither yes nor a known no. */
  unexpected(what: string, answer: Extract<RegistryAnswer, { type: 'error' }>): ContractsError;
}

const contentType = 'application/vnd.schemaregistry.v1+json';

export function createRegistryHttp(url: string, timeoutMs: number): RegistryHttp {
  const { host, username, password } = registryAddress(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const headers = { 'content-type': contentType, ...(username === '' ? {} : { authorization }) };

  return {
    async request(method, path, body) {
      const what = `The schema registry at ${host} did not answer`;
      let response: Response;
      let text: string;
      try {
        const init = { method, headers, signal: AbortSignal.timeout(timeoutMs) };
        response = await fetch(host + path, body === undefined ? init : { ...init, body: JSON.stringify(body) });
        text = await response.text();
      } catch (error) {
        throw unavailable(what, causeOf(error), error);
      }
      if (response.status >= 500) throw unavailable(what, `status ${String(response.status)}`);
      return answerOf(response.status, text);
    },
    unexpected(what, answer) {
      const detail = `status ${String(answer.status)}${answer.message === '' ? '' : `: ${answer.message}`}`;
      // Without the registry's own error number the answer came from something in between, or from a wrong address.
      if (answer.errorCode === null) return unavailable(`${what} at ${host}`, detail);
      return new ContractsError('registry_refused', `${what}: the registry answered ${detail}`);
    },
  };
}

/** Splits `http://user:password@host/path` into what a request needs. */
export function registryAddress(url: string): { host: string; username: string; password: string } {
  const parsed = new URL(url);
  const username = decodeURIComponent(parsed.username);
  const password = decodeURIComponent(parsed.password);
  parsed.username = '';
  parsed.password = '';
  return { host: parsed.href.replace(/\/+$/, ''), username, password };
}

export function unavailable(what: string, detail: string, cause?: unknown): ContractsError {
  const message = `${what} (${detail}). Check SCHEMA_REGISTRY_URL and that the registry is up.`;
  return new ContractsError('registry_unavailable', message, { cause });
}

function answerOf(status: number, text: string): RegistryAnswer {
  const body = parsed(text);
  if (status >= 200 && status < 300 && body !== null) return { type: 'ok', body };
  const { error_code: code, message } = (body ?? {}) as { readonly error_code?: unknown; readonly message?: unknown };
  return {
    type: 'error',
    status,
    errorCode: typeof code === 'number' ? code : null,
    message: typeof message === 'string' ? message : '',
  };
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** fetch says "fetch failed"; why is in its cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
