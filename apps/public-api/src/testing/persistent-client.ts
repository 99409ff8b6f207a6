import { randomUUID } from 'node:crypto';

export interface ClientAnswer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: unknown;
}

export interface ClientRequest {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly json?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface PersistentClientOptions {
  /** Asked at every try: processes come and go. */
  readonly url: () => string;
  readonly key: string;
}

const RETRY_MS = 30;
const GIVE_UP_MS = 30_000;
const TRY_TIMEOUT_MS = 8_000;

/** A caller as one should be: it sends a request until it is answered, a POST with one idempotency key. */
export function createPersistentClient({ url, key }: PersistentClientOptions) {
  async function once({ method, path, json, headers }: ClientRequest): Promise<ClientAnswer | null> {
    try {
      const answer = await fetch(url() + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        signal: AbortSignal.timeout(TRY_TIMEOUT_MS),
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      const text = await answer.text();
      const body: unknown = text === '' ? null : JSON.parse(text);
      return { status: answer.status, etag: answer.headers.get('etag'), body };
    } catch {
      return null;
    }
  }

  return async (request: ClientRequest): Promise<ClientAnswer> => {
    const headers = { ...(request.method === 'POST' ? { 'idempotency-key': randomUUID() } : {}), ...request.headers };
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (;;) {
      const answer = await once({ ...request, headers });
      if (answer !== null && !mayTryAgain(answer)) return answer;
      if (Date.now() > giveUpAt) throw new Error(`${request.method} ${request.path}: ${JSON.stringify(answer)}`);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
}

function mayTryAgain({ status, body }: ClientAnswer): boolean {
  const { error } = (body ?? {}) as { error?: { code?: string } };
  return status === 503 || status === 429 || error?.code === 'idempotency_in_progress';
}
