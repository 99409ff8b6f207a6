import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { signatureProblem } from '../../support/signature-problem.js';
import { answerOf, REFUSAL_CODE } from './endpoint-answers.js';
import { bodyHash, type EndpointBehavior, type Receipt, type TokenRequest } from './judge/observations.js';
import { TOKEN_PATH } from './subscribers.js';
import { createTokenEndpoint } from './token-endpoint.js';

/** Answers as its endpoints behave, and writes a line for each POST into a file, in the order in which they came in. */
export interface RecordingReceiver {
  handle(request: ReceiverRequest): unknown;
}

/** A connection that it closes while a request is on its way would be an error that is not part of the schedule. */
const KEEP_ALIVE_MS = 600_000;

interface Entry {
  ended: boolean;
  /** null: nothing to write down. */
  receipt: Receipt | null;
}

export function createRecordingReceiver(now: () => number): RecordingReceiver {
  let endpoints: ReadonlyMap<string, ReceiverEndpoint> = new Map();
  let file: WriteStream | null = null;
  let server: Server | null = null;
  const tokens = createTokenEndpoint();
  let isFixed = false;
  let isRepaired = false;
  let posts = 0;
  let accepted = 0;
  /** By arrival; a POST is written when it was answered, and later ones wait for it. */
  const waiting: Entry[] = [];

  function writeEnded(): void {
    for (let next = waiting[0]; next?.ended === true; next = waiting[0]) {
      if (next.receipt !== null) file?.write(`${JSON.stringify(next.receipt)}\n`);
      waiting.shift();
    }
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === TOKEN_PATH) {
      const { status, body } = tokens.answer(request, await bodyOf(request));
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      return;
    }
    const head = headOf(request, now());
    const entry: Entry = {
      ended: false,
      receipt: { ...head, bodyHash: '', signers: '', requestProblem: 'still open', status: null, answeredMs: null },
    };
    posts += 1;
    waiting.push(entry);
    try {
      const body = await bodyOf(request);
      const endpoint = endpoints.get(head.path);
      const signed = endpoint === undefined ? UNKNOWN : signaturesOf(request, body, endpoint);
      const requestProblem =
        endpoint === undefined
          ? 'no such endpoint'
          : (tokens.problemOf(head.token, endpoint) ?? problemOf(request, endpoint) ?? signed.problem);
      const status = await answer(response, endpoint, head);
      entry.receipt = {
        ...head,
        bodyHash: bodyHash(body),
        signers: signed.signers,
        requestProblem,
        status,
        answeredMs: status === null ? null : now(),
      };
    } catch {
      // The caller went in the middle of its request: no POST that anybody could act on.
      entry.receipt = null;
      response.destroy();
    }
    entry.ended = true;
    writeEnded();
  }

  async function answer(
    response: ServerResponse,
    endpoint: ReceiverEndpoint | undefined,
    { eventId, attempt }: Head,
  ): Promise<number | null> {
    if (endpoint === undefined) return end(response, 404);
    const answered = answerOf(endpoint.behavior, eventId, attempt);
    // Until the caller gives up.
    if (answered.type === 'silence') await once(response, 'close');
    if (answered.type !== 'response') return null;
    if (answered.delayMs > 0) await sleep(answered.delayMs);
    if (endpoint.behavior === 'fixed' && !isFixed) return end(response, REFUSAL_CODE);
    if (endpoint.behavior === 'outage' && isRepaired) return end(response, 200);
    return end(response, answered.status, answered.headers);
  }

  function end(
    response: ServerResponse,
    status: number,
    headers: Readonly<Record<string, string>> = {},
  ): number | null {
    if (response.destroyed || response.socket?.writable !== true) return null;
    response.writeHead(status, headers).end();
    if (status === 200) accepted += 1;
    return status;
  }

  return {
    handle(request) {
      switch (request.type) {
        case 'open':
          endpoints = new Map(request.endpoints.map((endpoint) => [endpoint.path, endpoint]));
          file = createWriteStream(request.file);
          server = createServer((...both) => void receive(...both));
          return listening(server, request.port);
        case 'fix':
          isFixed = true;
          return null;
        case 'repair':
          isRepaired = true;
          return null;
        case 'count':
          return { posts, accepted } satisfies ReceiverCount;
        case 'tokens':
          return tokens.requests satisfies readonly TokenRequest[];
        case 'save':
          for (const entry of waiting) entry.ended = true;
          writeEnded();
          return new Promise<null>((resolve) => {
            file?.end(() => {
              resolve(null);
            });
          });
        case 'close':
          server?.closeAllConnections();
          return new Promise<null>((resolve) => {
            server?.close(() => {
              resolve(null);
            });
          });
      }
    },
  };
}

type Head = Omit<Receipt, 'bodyHash' | 'signers' | 'requestProblem' | 'status' | 'answeredMs'>;

function headOf({ headers, url, socket }: IncomingMessage, receivedMs: number): Head {
  return {
    receivedMs,
    source: socket.remoteAddress ?? '',
    path: url ?? '',
    eventId: text(headers['webhook-id']),
    attempt: Number(headers['x-service-attempt']),
    signedMs: Number(headers['webhook-timestamp']) * 1_000,
    traceparent: text(headers['traceparent']),
    token: headers.authorization?.replace(/^Bearer /, '') ?? null,
  };
}

function problemOf({ headers }: IncomingMessage, { subscriptionId }: ReceiverEndpoint): string | null {
  if (headers['content-type'] !== 'application/json') return 'another content type';
  if (headers['x-service-subscription-id'] !== subscriptionId) return 'X-Service-Subscription-Id of another one';
  return null;
}

interface Signatures {
  /** See `Receipt`. */
  readonly signers: string;
  /** null: one of the secrets has signed it. */
  readonly problem: string | null;
}

const UNKNOWN: Signatures = { signers: '', problem: null };

function signaturesOf({ headers, url }: IncomingMessage, body: Buffer, endpoint: ReceiverEndpoint): Signatures {
  const { secret, nextSecret } = endpoint;
  const call = { path: url ?? '', headers, body, eventId: eventIdIn(body), nth: 1, receivedAt: 0 };
  const problems = [secret, ...(nextSecret === null ? [] : [nextSecret])].map((one) => signatureProblem(call, one));
  const signers = [...problems.keys()].filter((index) => problems[index] === null).join('');
  return { signers, problem: signers === '' ? (problems[0] ?? null) : null };
}

function eventIdIn(body: Buffer): string | undefined {
  try {
    const { eventId, event_id } = JSON.parse(body.toString()) as Record<'eventId' | 'event_id', string | undefined>;
    return eventId ?? event_id;
  } catch {
    return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function listening(server: Server, port: number): Promise<null> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = KEEP_ALIVE_MS + 1_000;
  server.requestTimeout = 0;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', backlog: 1_024 }, () => {
      resolve(null);
    });
  });
}

function text(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}

export interface ReceiverEndpoint {
  readonly path: string;
  readonly subscriptionId: string;
  readonly behavior: EndpointBehavior;
  /** As its owner sees it. */
  readonly secret: string;
  /** Of a rotation; null: there is none. */
  readonly nextSecret: string | null;
  readonly needsToken: boolean;
}

export type ReceiverRequest =
  | {
      readonly type: 'open';
      readonly port: number;
      readonly file: string;
      readonly endpoints: readonly ReceiverEndpoint[];
    }
  | { readonly type: 'count' }
  /** The requests to the token endpoint. */
  | { readonly type: 'tokens' }
  /** The endpoints that are to be fixed accept from now on; they have refused everything with 400. */
  | { readonly type: 'fix' }
  /** The endpoints with an outage accept from now on. */
  | { readonly type: 'repair' }
  /** Resolves when every receipt is in the file. */
  | { readonly type: 'save' }
  | { readonly type: 'close' };

export interface ReceiverCount {
  readonly posts: number;
  readonly accepted: number;
}
