/** A request of the parent, and what comes back under the same number. */
export interface Envelope {
  readonly id: number;
  readonly request: unknown;
}

export type Reply =
  | { readonly id: number; readonly type: 'done'; readonly result: unknown }
  | { readonly id: number; readonly type: 'failed'; readonly message: string };

/** What a worker reports without being asked. */
export interface Notice {
  readonly type: 'notice';
  readonly value: unknown;
}

/** In a worker: answers what the parent asks over the channel, and ends with the parent. */
export function serveRequests(handle: (request: unknown) => unknown): void {
  const send = (message: Reply): void => void process.send?.(message);
  process.on('message', (message) => {
    const { id, request } = message as Envelope;
    Promise.resolve()
      .then(() => handle(request))
      .then(
        (result) => send({ id, type: 'done', result }),
        (error: unknown) => {
          send({ id, type: 'failed', message: error instanceof Error ? String(error.stack) : String(error) });
        },
      );
  });
  process.on('disconnect', () => process.exit(0));
}

export function tellParent(value: unknown): void {
  process.send?.({ type: 'notice', value } satisfies Notice);
}
