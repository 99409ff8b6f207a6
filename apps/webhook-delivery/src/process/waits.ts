import { toError } from '@waypost/streams/admin';

export interface AttemptWait {
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

export type Waited<T> =
  | { readonly type: 'value'; readonly value: T }
  | { readonly type: 'late' }
  | { readonly type: 'aborted' };

/** Waits at most `withinMs`. The promise itself continues, since other attempts may wait for it too. */
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
          reject(toError(error));
        });
      },
    );
  });
}

/** The abort reason when a task closes or a replay is cancelled: it ends waits and is never reported as an error. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}
