import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';

/** Where a command writes: results to `out`, everything for a person's eyes to `err`. */
export interface Terminal {
  readonly out: Output;
  readonly err: Output;
}

export type Output = Writable & { readonly isTTY?: boolean };

/** Writes results; waits when the reader of a pipe is slower, and not for one that has gone. */
export async function writeText(out: Output, text: string): Promise<void> {
  if (out.write(out.isTTY === true ? withoutControls(text) : text)) return;
  try {
    await once(out, 'drain');
  } catch (error) {
    if (!isBrokenPipe(error)) throw error;
  }
}

const CONTROLS = /(?![\n\t])\p{Cc}/gu;

/** Records come from outside: one must not rename the window or hide the lines before it. */
function withoutControls(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether a write failed because nothing reads the pipe any more. */
export function isBrokenPipe(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'EPIPE';
}

export function writeLine(out: Output, line: string): Promise<void> {
  return writeText(out, `${line}\n`);
}

export interface Progress {
  update(done: number, detail: string): void;
  stop(): void;
}

const PROGRESS_LINE_EVERY_MS = 5_000;

/** A progress bar on a terminal; elsewhere a line every five seconds, so that a log shows long work going on. */
export function createProgress(
  terminal: Terminal,
  total: number,
  nowMs = () => performance.now(),
  host: SignalHost = process,
): Progress {
  if (terminal.err.isTTY !== true) return createProgressLines(terminal.err, total, nowMs);
  const bar = new SingleBar({
    stream: terminal.err,
    format: '[{bar}] {percentage} % | {detail}',
    hideCursor: true,
    clearOnComplete: true,
    fps: 10,
  });
  bar.start(total, 0, { detail: '' });
  const forget = beforeSignalEnds(host, () => bar.stop());
  return {
    update: (done, detail) => bar.update(Math.min(done, total), { detail }),
    stop() {
      forget();
      bar.stop();
    },
  };
}

/** The part of `process` that signals need. */
export interface SignalHost {
  readonly pid: number;
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  kill(pid: number, signal: NodeJS.Signals): unknown;
}

const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Restores the terminal, which would be left without cursor and line wrap, and lets the signal end the process all the same.
 * @returns ends this
 */
function beforeSignalEnds(host: SignalHost, restore: () => void): () => void {
  const forget = (): void => {
    for (const signal of END_SIGNALS) host.off(signal, end);
  };
  const end = (signal: NodeJS.Signals): void => {
    forget();
    restore();
    host.kill(host.pid, signal);
  };
  for (const signal of END_SIGNALS) host.on(signal, end);
  return forget;
}

function createProgressLines(err: Writable, total: number, nowMs: () => number): Progress {
  let writtenAtMs = nowMs();
  return {
    update(done, detail) {
      if (nowMs() - writtenAtMs < PROGRESS_LINE_EVERY_MS) return;
      writtenAtMs = nowMs();
      const percentage = total > 0 ? Math.floor((Math.min(done, total) / total) * 100) : 100;
      err.write(`${String(percentage)} % | ${detail}\n`);
    },
    stop: () => undefined,
  };
}

/** The progress of a reading, which knows only when it has begun how much there is (`LogRange.onTotal`). */
export interface ReadingProgress {
  readonly onTotal: (total: number) => void;
  /** @param records that were read since the last call */
  readonly advance: (records: number, detail: (done: number) => string) => void;
}

/** Shows the progress of reading. */
export async function withProgress(
  terminal: Terminal,
  read: (progress: ReadingProgress) => Promise<void>,
): Promise<void> {
  const shown: { bar: Progress | null } = { bar: null };
  let done = 0;
  try {
    await read({
      onTotal: (total) => {
        shown.bar = createProgress(terminal, total);
      },
      advance: (records, detail) => {
        done += records;
        shown.bar?.update(done, detail(done));
      },
    });
  } finally {
    shown.bar?.stop();
  }
}

/** One line that is written over, on a terminal; nothing elsewhere. */
export function createStatusLine({ err }: Terminal): { show(text: string): void; clear(): void } {
  if (err.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  return { show: (text) => void err.write(`\r\x1b[2K${text}`), clear: () => void err.write('\r\x1b[2K') };
}

/** An end of the command that its user can understand: one sentence, no stack. 1: it failed; 2: wrong usage. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, 2);
}
