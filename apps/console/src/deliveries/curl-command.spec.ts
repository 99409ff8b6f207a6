import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { verify } from '@waypost/client';
import { curlCommand } from './curl-command.js';

/** Of the form that ours have: 32 bytes. */
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const EVENT = { eventId: 'e-1', subscriptionId: '0b0e8f0a-0000-4000-8000-000000000000' };
const BODY = `{"eventId":"e-1","eventType":"test","eventTime":"2026-05-04T08:00:00.000Z","eventData":{"note":"it's"}}`;
const itWithCurl = spawnSync('curl', ['--version']).error ? it.skip : it;

function filled(commands: string): string {
  return commands.replace(/^secret='[^']*'/, `secret='${SECRET}'`);
}

/** The words that a shell passes to curl. */
function wordsOf(commands: string): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${filled(commands)}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

function headersOf(words: readonly string[]): Record<string, string> {
  const lines = words.flatMap((word, index) => (words[index - 1] === '-H' ? [word] : []));
  return Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
}

interface Call {
  readonly path: string | undefined;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** Runs the commands for a path of a server of its own, and returns what it got. */
async function received(path: string, commandsFor: (url: string) => string): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push({ path: request.url, body, headers: request.headers });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await promisify(execFile)('sh', ['-c', filled(commandsFor(`http://127.0.0.1:${String(port)}${path}`))]);
  server.close();
  return calls;
}

describe('the curl command of a delivery', () => {
  it('gives curl the exact URL and body, whatever characters they hold', () => {
    const hostile = fc.string({ unit: fc.constantFrom("'", '"', '$', '`', '\\', '\n', ' ', ';', 'a', 'é') });
    fc.assert(
      fc.property(hostile, hostile, (path, body) => {
        const url = `https://receiver.example/${path}`;
        const words = wordsOf(curlCommand({ url, body, ...EVENT }));
        expect([words.slice(0, 4), words.slice(-2)]).toEqual([
          ['--globoff', '-X', 'POST', url],
          ['--data-raw', body],
        ]);
      }),
      { numRuns: 20 },
    );
  });

  it('signs the request as we do, so that a receiver accepts it (R-19)', async () => {
    const url = 'https://receiver.example/';
    const headers = headersOf(wordsOf(curlCommand({ url, body: BODY, ...EVENT })));
    expect(await verify(BODY, headers, SECRET)).toMatchObject({ ok: true, format: 'v1' });
    expect(await verify(`${BODY} `, headers, SECRET)).toMatchObject({ ok: false, reason: 'wrong_signature' });
  });

  it('has no comment, which an interactive zsh would not take for one', () => {
    expect(curlCommand({ url: 'https://receiver.example/', body: BODY, ...EVENT })).not.toMatch(/(^|\s)#/m);
  });

  itWithCurl('sends one request with all that a delivery has, also to a URL with brackets (R-19)', async () => {
    const path = '/hooks?x=[1-3]&y={a,b}';
    const calls = await received(path, (url) => curlCommand({ url, body: BODY, ...EVENT }));
    expect(calls.map((one) => [one.path, one.body])).toEqual([[path, BODY]]);
    const headers = calls[0]?.headers ?? {};
    expect(headers).toMatchObject({
      'x-service-event-id': EVENT.eventId,
      'x-service-subscription-id': EVENT.subscriptionId,
      'x-service-attempt': '1',
      'content-type': 'application/json',
    });
    // Each of the two signatures by itself.
    const { 'x-service-signature': own, 'webhook-signature': standard, ...unsigned } = headers;
    const both = [
      { ...unsigned, 'x-service-signature': own },
      { ...unsigned, 'webhook-signature': standard },
    ];
    for (const signed of both) expect(await verify(BODY, signed, SECRET)).toMatchObject({ ok: true });
  });
});
