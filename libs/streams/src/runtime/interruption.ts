/**
 * Something that ends a wait early: the task is to close, or has failed. Listeners are taken off as waits end, so a
 * task that runs for months keeps nothing of them (racing against one long-lived promise would).
 */
export class Interruption {
  private readonly listeners = new Set<(reason: Error) => void>();
  private reason: Error | null = null;

  isRaised(): boolean {
    return this.reason !== null;
  }

  throwIfRaised(): void {
    if (this.reason) throw this.reason;
  }

  raise(reason: Error): void {
    if (this.reason) return;
    this.reason = reason;
    for (const listener of [...this.listeners]) listener(reason);
  }

  /** Settles as `work`, or rejects with the reason when interrupted and `graceMs` later the work is still going on. */
  guard<T>(work: Promise<T>, graceMs = 0): Promise<T> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const stop = this.listen((reason) => {
        if (graceMs === 0) reject(reason);
        else timer = setTimeout(reject, graceMs, reason);
      });
      work.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        stop();
      });
    });
  }

  /** Resolves after `ms`, or at once when interrupted. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(end, ms);
      const stop = this.listen(end);
      function end(): void {
        clearTimeout(timer);
        // The listener may be called before listen() has returned.
        queueMicrotask(() => {
          stop();
        });
        resolve();
      }
    });
  }

  /** Calls `listener` once when interrupted, also when that was before. Returns how to take it off. */
  listen(listener: (reason: Error) => void): () => void {
    if (this.reason) {
      listener(this.reason);
      return () => undefined;
    }
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
