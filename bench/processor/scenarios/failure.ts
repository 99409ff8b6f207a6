import type { BenchContext } from '../bench-context.js';
import type { BenchProcess } from '../sides/bench-process.js';

/** Aborted by Ctrl-C and by the unasked end of a process. */
export function anyFailure({ signal }: Pick<BenchContext, 'signal'>, processes: readonly BenchProcess[]): AbortSignal {
  return AbortSignal.any([signal, ...processes.map(({ failed }) => failed)]);
}

/** The work, or a rejection as soon as the signal is aborted. */
export function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}
