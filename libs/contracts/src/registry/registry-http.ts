import { Agent as HttpAgent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { ContractsError, messageOf } from '../contracts-error.js';

export type RegistryAnswer =
  | { readonly type: 'ok'; readonly body: unknown }
  /** errorCode: the registry's own number; null when the answer is not the registry's. */
  | { readonly type: 'error'; readonly status: number; readonly errorCode: number | null; readonly message: string };

export interface RegistryHttp {
  /** Rejects with `registry_unavailable` if there is no response, or a 5xx. */
  request(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<RegistryAnswer>;
  /** The error for a response that is neither a yes nor a known no. */
  unexpected(what: string, answer: Extract<RegistryAnswer, { type: 'error' }>): ContractsError;
}

const contentType = 'application/vnd.schemaregistry.v1+json';

export interface RegistryAddress {
  readonly url: string;
  readonly ca?: string | undefined;
  readonly timeoutMs: number;
}

export function createRegistryHttp({ url, ca, timeoutMs }: RegistryAddress): RegistryHttp {
  const { host, username, password } = registryAddress(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const headers = { 'content-type': contentType, ...(username === '' ? {} : { authorization }) };
  const agent = registryAgent(host, ca);

  return {
    async request(method, path, body) {
      const what = `The schema registry at ${host} did not respond`;
      const request = { method, url: host + path, headers };
      let reply: RegistryReply;
      try {
        const whole = body === undefined ? request : { ...request, body: JSON.stringify(body) };
        reply = await sendToRegistry(whole, agent, timeoutMs);
      } catch (error) {
        throw noAnswer(what, error);
      }
      if (reply.status === 401 || reply.status === 403) throw loginRefused(host, reply.status);
      if (reply.status >= 500) throw unavailable(what, `status ${String(reply.status)}`);
      return answerOf(reply.status, reply.text);
    },
    unexpected(what, answer) {
      const detail = `status ${String(answer.status)}${answer.message === '' ? '' : `: ${answer.message}`}`;
      // Without the registry's own error number, the response came from something in between, or from a wrong address.
      if (answer.errorCode === null) return unavailable(`${what} at ${host}`, detail);
      return new ContractsError('registry_refused', `${what}: the registry responded with ${detail}`);
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

/** No response: an outage, or an untrusted certificate, which waiting does not fix. */
export function noAnswer(what: string, error: unknown): ContractsError {
  const detail = messageOf(error);
  const code = nodeErrorCode(error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const fix = 'use the name that its certificate has in SCHEMA_REGISTRY_URL';
    return new ContractsError('registry_untrusted', `${what} (${detail}): ${fix}.`, { cause: error });
  }
  if (CERTIFICATE_CODES.has(code)) {
    const fix = 'name the certificate authority of the registry in SCHEMA_REGISTRY_CA_FILE';
    return new ContractsError('registry_untrusted', `${what} (${detail}): ${fix}.`, { cause: error });
  }
  // OpenSSL got bytes that are not TLS, or Node's parser bytes that are not HTTP.
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code.startsWith('HPE_')) {
    const fix = 'check whether SCHEMA_REGISTRY_URL must begin with http or https';
    return new ContractsError('registry_untrusted', `${what} (${detail}): ${fix}.`, { cause: error });
  }
  return unavailable(what, detail, error);
}

const CERTIFICATE_CODES = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export function loginRefused(host: string, status: number): ContractsError {
  return new ContractsError(
    'registry_refused',
    `The schema registry at ${host} rejected this user (status ${String(status)}): check the user name and the password ` +
      'in SCHEMA_REGISTRY_URL.',
  );
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

/** Judges by shape: Node's errors may come from another realm. */
function nodeErrorCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? (error as { readonly code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}

export interface RegistryRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RegistryReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Far above any schema: a longer response does not come from a registry. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** The agent of all requests to one registry; connections close after each, since lookups are rare. */
export function registryAgent(url: string, ca: string | undefined): HttpAgent {
  return url.startsWith('https:') ? new HttpsAgent({ ...(ca === undefined ? {} : { ca }) }) : new HttpAgent();
}

/**
 * Sends one request to the operator's registry. Not by fetch, which takes no certificate authority; redirects are not
 * followed, so that credentials reach no other host. Rejects if there is no complete response in time.
 */
export function sendToRegistry(
  { method, url, headers, body }: RegistryRequest,
  agent: HttpAgent,
  timeoutMs: number,
): Promise<RegistryReply> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(
      url,
      {
        method,
        agent,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
        signal: AbortSignal.timeout(timeoutMs),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > MAX_REPLY_BYTES) response.destroy(new Error('the response is too long'));
        });
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, headers: answered } = response;
          resolve({ status, headers: answered, text: Buffer.concat(chunks).toString('utf8') });
        });
      },
    );
    request.on('error', (error) => {
      reject(error.name === 'AbortError' ? new Error(`no response within ${String(timeoutMs)} ms`) : error);
    });
    request.end(body);
  });
}
