/** Where a stack tells its user what it is doing. */
export interface StackReporter {
  /** One line about something that happened. */
  note(line: string): void;
  /** Shows `title` while the work runs, and that it is done. */
  during<T>(title: string, work: () => Promise<T>): Promise<T>;
}

export const silentReporter: StackReporter = { note: () => undefined, during: (_title, work) => work() };

interface TerminalReporterOptions {
  readonly stream: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly now?: () => number;
}

const REDRAW_MS = 500;

/** Prints lines to a stream; on a terminal, the last line counts the seconds of the current work. */
export function createTerminalReporter({
  stream,
  now = () => performance.now(),
}: TerminalReporterOptions): StackReporter {
  const running = new Map<string, number>();
  let redraw: NodeJS.Timeout | undefined;

  const seconds = (startedAt: number): string => `${((now() - startedAt) / 1000).toFixed(1)} s`;

  function draw(): void {
    if (stream.isTTY !== true) return;
    const parts = [...running].map(([title, startedAt]) => `${title} ${seconds(startedAt)}`);
    stream.write(`\r\u001B[K${parts.join(' · ')}`);
  }

  function note(line: string): void {
    stream.write(stream.isTTY === true ? `\r\u001B[K${line}\n` : `${line}\n`);
    draw();
  }

  function follow(): void {
    if (running.size === 0) {
      clearInterval(redraw);
      redraw = undefined;
      draw();
    } else if (stream.isTTY === true) {
      redraw ??= setInterval(draw, REDRAW_MS).unref();
    }
  }

  return {
    note,
    async during(title, work) {
      const startedAt = now();
      running.set(title, startedAt);
      follow();
      try {
        const result = await work();
        running.delete(title);
        note(`${title}: done in ${seconds(startedAt)}`);
        return result;
      } finally {
        running.delete(title);
        follow();
      }
    },
  };
}
