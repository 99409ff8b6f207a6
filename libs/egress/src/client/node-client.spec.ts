import { type ClientRequest, request as nodeRequest } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cut } from '../testing/cut.js';
import { type RawServer, startRawServer } from '../testing/raw-server.js';
import { createEgressClient, type EgressClient } from './egress-client.js';

const servers: RawServer[] = [];
const clients: EgressClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

interface Understood {
  readonly statusCode: number | undefined;
  readonly body: string | undefined;
}

/** What Node's own client, an independent reader of HTTP/1.1, makes of the response. */
function askNode(url: string): Promise<Understood> {
  return new Promise((resolve) => {
    const request: ClientRequest = nodeRequest(url, { method: 'POST', agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('close', () => {
        const { statusCode } = response;
        resolve({ statusCode, body: response.complete ? Buffer.concat(chunks).toString('latin1') : undefined });
      });
    });
    request.on('error', () => {
      resolve({ statusCode: undefined, body: undefined });
    });
    request.end();
  });
}

const framing = fc.constantFrom(
  'content-length: 5',
  'content-length: 3',
  'Content-Length:5',
  'transfer-encoding: chunked',
  'Transfer-Encoding:CHUNKED',
  'x-none: 1',
);
const body = fc.constantFrom(
  'abcde',
  '5\r\nabcde\r\n0\r\n\r\n',
  '2;x=1\r\nab\r\n3\r\ncde\r\n0\r\nx-trailer: 1\r\n\r\n',
  '5\nabcde\n0\n\n',
  '5\r\nabcdeX\r\n0\r\n\r\n',
  '',
);
const lines = fc.array(
  fc.constantFrom(
    'server: x',
    'x-empty:',
    'connection: close',
    'connection: keep-alive',
    ' folded',
    'bad line',
    'a : b',
  ),
  { maxLength: 3 },
);
/** What comes behind the end of the body, Node takes for the failure of this response. */
const hasSurplus = (made: { statusLine: string; framing: string; body: string }): boolean =>
  /204|304/.test(made.statusLine)
    ? made.body !== ''
    : made.body.length > Number(/length: ?(\d+)/i.exec(made.framing)?.[1] ?? Infinity);

const response = fc.record({
  statusLine: fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.1 404 ',
    'HTTP/1.0 200 OK',
    'HTTP/1.1 204 No',
    'HTTP/1.1 304 X',
  ),
  lines,
  framing,
  body,
  cuts: fc.array(fc.nat(), { maxLength: 4 }),
});

describe('a response that is read whole', () => {
  it("is what Node's own client reads", async () => {
    let pieces: readonly string[] = [];
    const server = await startRawServer((socket) => {
      for (const piece of pieces) socket.write(piece, 'latin1');
      socket.end();
    });
    servers.push(server);
    const client = createEgressClient({ allowedSubnets: ['127.0.0.0/8'], allowHttp: true });
    clients.push(client);
    let readWhole = 0;

    await fc.assert(
      fc.asyncProperty(response, async (made) => {
        fc.pre(!hasSurplus(made));
        const head = [made.statusLine, ...made.lines, made.framing].map((line) => `${line}\r\n`).join('');
        pieces = cut(`${head}\r\n${made.body}`, made.cuts);

        const ours = await client.post({ url: server.url, headers: {}, body: '', deadlineMs: 2_000 });
        const nodes = await askNode(server.url);

        // Node is not asked about what is refused here: it may well be more forgiving.
        if (ours.type !== 'response' || ours.truncated) return;
        readWhole += 1;
        expect({ statusCode: ours.statusCode, body: ours.body.toString('latin1') }).toEqual(nodes);
      }),
      { numRuns: 300 },
    );
    expect(readWhole).toBeGreaterThan(30);
  });
});
