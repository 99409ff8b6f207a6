import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { curlCommand } from './curl-command.js';

/** The words that a shell makes of the command. */
function wordsOf(command: string): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('the curl command of a delivery', () => {
  it('gives curl the exact URL and body, whatever characters they hold', () => {
    const hostile = fc.string({ unit: fc.constantFrom("'", '"', '$', '`', '\\', '\n', ' ', ';', 'a', 'é') });
    fc.assert(
      fc.property(hostile, hostile, (path, body) => {
        const url = `https://receiver.example/${path}`;
        expect(wordsOf(curlCommand({ url, body, eventId: 'e-1' }))).toEqual([
          ...['-X', 'POST', url, '-H', 'content-type: application/json'],
          ...['-H', 'X-Service-Event-Id: e-1', '--data-binary', body],
        ]);
      }),
      { numRuns: 30 },
    );
  });
});
