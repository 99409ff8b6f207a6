import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Where a command writes: results to `out`, everything for a person's eyes to `err`. */
export interface Terminal {
  readonly out: Writable;
  readonly err: Writable & { readonly isTTY?: boolean };
}

/** Writes a line of results; waits when the reader of a pipe is slower. */
export async function writeLine(out: Writable, line: string): Promise<void> {
  if (!out.write(`${line}\n`)) await once(out, 'drain');
}
