import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../errors/api-error.js';
import { deprecationOfRaw } from '../v1-history/deprecation.middleware.js';

type Problem = readonly [status: string, code: ErrorCode, message: string];

const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    'The request line and the headers may be at most 16 KB together.',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'body_too_large', 'The body has too many chunk extensions.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'],
};
const MALFORMED: Problem = ['400 Bad Request', 'invalid_request', 'This is not an HTTP request.'];

/**
 * What the HTTP parser refuses never reaches the application; it gets the same error shape and security headers
 * all the same, and nothing of the parser's own words.
 */
export function answerClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Half an answer may be on its way: more bytes would make it another one.
    if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const more = deprecationOfRaw((error as { rawPacket?: Buffer }).rawPacket);
    socket.end(answerOf(PROBLEMS[error.code ?? ''] ?? MALFORMED, more), () => socket.destroy());
  });
  server.on('checkExpectation', (_request, response) => {
    const body = bodyOf(['invalid_request', 'Of expectations only 100-continue is met.']);
    response.writeHead(417, { ...HEADERS, 'content-length': Buffer.byteLength(body) }).end(body);
  });
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

function answerOf([status, code, message]: Problem, more: Readonly<Record<string, string>>): string {
  const body = bodyOf([code, message]);
  const headers = { ...HEADERS, ...more, 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`;
}

const bodyOf = ([code, message]: readonly [ErrorCode, string]): string => JSON.stringify({ error: { code, message } });

/** The response that the server is writing to this connection, which it keeps on the socket. */
function isAnswering(socket: Duplex): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: { readonly headersSent: boolean } | null };
  return response?.headersSent === true;
}
