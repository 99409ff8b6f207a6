/** How long an attempt may wait for something before its POST. */
export interface AttemptWait {
  readonly withinMs: number;
  /** This process stops. */
  readonly signal: AbortSignal;
}

export type Waited<T> =
  { readonly type: 'value'; readonly value: T } | { readonly type: 'late' } | { readonly type: 'aborted' };

/** Waits no longer than the attempt may. What is waited for goes on for the others who wait for it. */
export function waitFor<T>(promise: Promise<T>, { withinMs, signal }: AttemptWait): Promise<Waited<T>> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => {
      end(() => {
        resolve({ type: 'aborted' });
      });
    };
    const timer = setTimeout(
      () => {
        end(() => {
          resolve({ type: 'late' });
        });
      },
      Math.max(0, withinMs),
    );
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(
      (value) => {
        end(() => {
          resolve({ type: 'value', value });
        });
      },
      (error: unknown) => {
        end(() => {
          reject(error instanceof Error ? error : new Error(String(error)));
        });
      },
    );
  });
}
