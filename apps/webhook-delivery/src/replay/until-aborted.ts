/** A wait that was given up because its task closes; never an error of its own. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** Settles as `work`, or rejects with Aborted once the signal says so; what `work` becomes is then nobody's concern. */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new Aborted());
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
