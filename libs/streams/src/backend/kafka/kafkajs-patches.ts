/** What has to be changed inside of kafkajs 2.2.4 itself. Each is applied once a process and holds for every client in it. */

export interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

export interface Connection {
  connect(): Promise<unknown>;
}

const PATCHED = Symbol.for('waypost.streams.patched');

type Patchable<T> = T & { [PATCHED]?: true };

/** kafkajs re-arms a timer of some milliseconds on every connection for ever; only a queue that holds something needs it. */
export const patchIdleTimer = (prototype: Patchable<RequestQueue>): void => {
  if (prototype[PATCHED]) return;
  const { value: original } = Object.getOwnPropertyDescriptor(prototype, 'scheduleCheckPendingRequests') as {
    value: (this: RequestQueue) => void;
  };
  prototype.scheduleCheckPendingRequests = function scheduleOnlyWhenPending(this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this);
  };
  prototype[PATCHED] = true;
};

/**
 * Requests that find their connection closed each open it again. kafkajs would make a socket for each of them, use the
 * last one and leave the others open: here they share one attempt.
 */
export const patchSharedConnect = (prototype: Patchable<Connection>): void => {
  if (prototype[PATCHED]) return;
  const { value: original } = Object.getOwnPropertyDescriptor(prototype, 'connect') as {
    value: (this: Connection) => Promise<unknown>;
  };
  const attempts = new WeakMap<Connection, Promise<unknown>>();
  prototype.connect = function connectOnce(this: Connection): Promise<unknown> {
    let attempt = attempts.get(this);
    if (!attempt) {
      attempt = original.call(this).finally(() => attempts.delete(this));
      attempts.set(this, attempt);
    }
    return attempt;
  };
  prototype[PATCHED] = true;
};
