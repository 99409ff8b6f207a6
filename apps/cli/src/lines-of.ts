import type { Readable } from 'node:stream';

/**
 * The lines of a text, which end with a line feed only: JSON may have other line separators in its strings. Not readline, which
 * splits at those in some versions of Node, and whose iteration ends silently when the stream breaks.
 */
export async function* linesOf(text: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
