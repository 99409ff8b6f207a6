import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { linesOf } from './lines-of.js';

async function split(...chunks: (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(chunks, { objectMode: false }))) lines.push(line);
  return lines;
}

describe('The lines of a text', () => {
  it('end with a line feed, wherever the chunks end', async () => {
    expect(await split('a\nb', 'c\n', '\nd')).toEqual(['a', 'bc', '', 'd']);
    expect(await split('a\n')).toEqual(['a']);
    expect(await split('')).toEqual([]);
  });

  it('do not end at the separators that JSON may have in its strings', async () => {
    expect(await split('a\u2028b\u2029c\u0085d\n')).toEqual(['a\u2028b\u2029c\u0085d']);
  });

  it('keep a character whose bytes are in two chunks', async () => {
    const bytes = Buffer.from('\u2028');
    expect(await split(bytes.subarray(0, 1), bytes.subarray(1))).toEqual(['\u2028']);
  });

  it('end with the error of a stream that breaks', async () => {
    const broken = Readable.from(
      (async function* () {
        yield 'a\n';
        await Promise.reject(new Error('gone'));
      })(),
    );
    await expect(
      (async () => {
        for await (const _ of linesOf(broken)) continue;
      })(),
    ).rejects.toThrow('gone');
  });
});
