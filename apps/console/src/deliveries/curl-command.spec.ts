import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { verify } from '@waypost/client';
import { curlCommand } from './curl-command.js';

/** Of the form that ours have: 32 bytes. */
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** The words that a shell passes to curl. */
function wordsOf(commands: string): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${commands}`;
  const withSecret = script.replace('whsec_...', SECRET);
  return execFileSync('sh', ['-c', withSecret], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

function headersOf(words: readonly string[]): Record<string, string> {
  const lines = words.flatMap((word, index) => (words[index - 1] === '-H' ? [word] : []));
  return Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
}

describe('the curl command of a delivery', () => {
  it('gives curl the exact URL and body, whatever characters they hold', () => {
    const hostile = fc.string({ unit: fc.constantFrom("'", '"', '$', '`', '\\', '\n', ' ', ';', 'a', 'é') });
    fc.assert(
      fc.property(hostile, hostile, (path, body) => {
        const url = `https://receiver.example/${path}`;
        const words = wordsOf(curlCommand({ url, body, eventId: 'e-1' }));
        expect([words.slice(0, 3), words.slice(-2)]).toEqual([
          ['-X', 'POST', url],
          ['--data-raw', body],
        ]);
      }),
      { numRuns: 20 },
    );
  });

  it('signs the request as we do, so that a receiver accepts it (R-19)', async () => {
    const body = `{"eventId":"e-1","eventType":"test","eventTime":"2026-05-04T08:00:00.000Z","eventData":{"note":"it's"}}`;
    const headers = headersOf(wordsOf(curlCommand({ url: 'https://receiver.example/', body, eventId: 'e-1' })));
    expect(await verify(body, headers, SECRET)).toMatchObject({ ok: true, format: 'v1' });
    expect(await verify(`${body} `, headers, SECRET)).toMatchObject({ ok: false, reason: 'wrong_signature' });
  });
});
