import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Where a command writes: results to `out`, everything for a person's eyes to `err`. */
export interface Terminal {
  readonly out: Writable;
  readonly err: Writable & { readonly isTTY?: boolean };
}

/** Writes results; waits when the reader of a pipe is slower. */
export async function writeText(out: Writable, text: string): Promise<void> {
  if (!out.write(text)) await once(out, 'drain');
}

export const writeLine = (out: Writable, line: string): Promise<void> => writeText(out, `${line}\n`);
