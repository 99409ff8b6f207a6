export type Settled =
  { readonly type: 'done' } | { readonly type: 'failed'; readonly error: unknown } | { readonly type: 'overrun' };

/** Runs `work` and waits at most `timeoutMs` for it; work that overruns goes on unobserved, its errors swallowed. */
export async function settleWithin(work: () => Promise<void>, timeoutMs: number): Promise<Settled> {
  let timer: NodeJS.Timeout | undefined;
  const overrun = new Promise<Settled>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, { type: 'overrun' });
  });
  const done = work().then(
    (): Settled => ({ type: 'done' }),
    (error: unknown): Settled => ({ type: 'failed', error }),
  );
  try {
    return await Promise.race([done, overrun]);
  } finally {
    clearTimeout(timer);
  }
}
