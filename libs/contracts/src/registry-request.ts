import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface RegistryRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RegistryReply {
  readonly status: number;
  readonly text: string;
}

/** Far above any schema; whoever answers more is no registry. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** The agent of all requests to one registry; connections are closed after each, since look-ups are rare. */
export const registryAgent = (url: string, ca: string | undefined): HttpAgent =>
  url.startsWith('https:') ? new HttpsAgent({ ...(ca === undefined ? {} : { ca }) }) : new HttpAgent();

/**
 * One request to the operator's registry. Not by fetch, which cannot be told of a certificate authority; redirects are
 * not followed, so that credentials reach nobody else. Rejects when there is no whole answer within the time.
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
          if (bytes > MAX_REPLY_BYTES) response.destroy(new Error('the answer is too long'));
        });
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        });
      },
    );
    request.on('error', (error) => {
      reject(error.name === 'AbortError' ? new Error(`no answer within ${String(timeoutMs)} ms`) : error);
    });
    request.end(body);
  });
}
