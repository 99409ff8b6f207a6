interface StopRequestOptions {
  /** Stop also when the parent process goes away, as npm does when it is killed. */
  readonly watchParent: boolean;
  /** Stop also when standard input ends, as it does with the process at its other end. */
  readonly watchInput: boolean;
  readonly onRequest: (reason: string) => void;
}

const PARENT_POLL_MS = 300;

/** Aborted once this process is asked to stop. Further signals change nothing: npm passes ours on as well. */
export function stopRequest({ watchParent, watchInput, onRequest }: StopRequestOptions): AbortSignal {
  const request = new AbortController();
  const stop = (reason: string): void => {
    if (request.signal.aborted) return;
    onRequest(reason);
    request.abort(new Error(`Stopped: ${reason}.`));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  if (watchParent) {
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) stop('npm is gone');
    }, PARENT_POLL_MS).unref();
  }
  if (watchInput) {
    process.stdin.on('end', () => stop('the standard input has ended'));
    process.stdin.resume();
  }
  return request.signal;
}
