import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../errors/api-error.js';
import { REQUEST_ID_HEADER } from '../errors/request-id.middleware.js';
import { DEPRECATION_HEADERS, isV1Target, V1_GONE } from './deprecation.middleware.js';
import { hasBody } from './request-refusals.middleware.js';
import { MAX_HEADER_SIZE } from './server-limits.js';

type Problem = readonly [status: string, code: ErrorCode, message: string];

const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    `The request line and the headers may be at most ${MAX_HEADER_SIZE} together.`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'body_too_large', 'The body has too many chunk extensions.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'],
};
const MALFORMED: Problem = ['400 Bad Request', 'invalid_request', 'This is not an HTTP request.'];
const GONE: Problem = ['410 Gone', 'gone', V1_GONE];

interface ClientError extends NodeJS.ErrnoException {
  /** The bytes that the parser read last. */
  readonly rawPacket?: Buffer;
}

export interface ClientErrorOptions {
  /** The switch of R-32: v1 responds with 410. */
  readonly v1Gone: boolean;
  readonly newId: () => string;
}

/**
 * Requests that the HTTP parser refuses never reach the application. They get the same error shape and security
 * headers, those of v1 where the request is known to be for v1, and none of the parser's own words.
 */
export function answerClientErrors(server: Server, { v1Gone, newId }: ClientErrorOptions): void {
  /** The last request of each connection that came with a body. */
  const withBody = new WeakMap<Duplex, IncomingMessage>();
  server.on('request', (request) => {
    if (hasBody(request)) withBody.set(request.socket, request);
  });
  server.on('clientError', (error: ClientError, socket: Duplex) => {
    // Half a response may be on its way: more bytes would corrupt it.
    if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const isV1 = isV1Target(targetOf(error, withBody.get(socket)));
    const problem = isV1 && v1Gone ? GONE : (PROBLEMS[error.code ?? ''] ?? MALFORMED);
    socket.end(answerOf(problem, newId(), isV1 ? DEPRECATION_HEADERS : {}), () => socket.destroy());
  });
  // Unknown expectations: refuseExpectations answers them like every other request.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Far more than comes before the end of the path. */
const RAW_START_LENGTH = 1_024;

/**
 * The target of the request whose body is still arriving, else that of the request line, if the refused bytes begin with
 * it. For headers that arrive in several pieces it stays unknown.
 */
function targetOf({ rawPacket }: ClientError, last: IncomingMessage | undefined): string {
  if (last?.complete === false) return last.url ?? '';
  const start = rawPacket?.toString('latin1', 0, RAW_START_LENGTH) ?? '';
  return /^[A-Z-]+ +(\S+)/i.exec(start)?.[1] ?? '';
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

function answerOf([status, code, message]: Problem, requestId: string, more: Readonly<Record<string, string>>): string {
  const body = JSON.stringify({ error: { code, message, requestId } });
  const headers = {
    ...HEADERS,
    ...more,
    [REQUEST_ID_HEADER]: requestId,
    'content-length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`;
}

/** The response that the server is writing to this connection, which it keeps on the socket. */
function isAnswering(socket: Duplex): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: { readonly headersSent: boolean } | null };
  return response?.headersSent === true;
}
