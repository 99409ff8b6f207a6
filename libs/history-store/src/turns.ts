import pLimit from 'p-limit';

/** Runs work when it has its turn; settles as the work does. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** A transaction of a projection takes a tenth of a second. What takes so long mostly waits: for a lock, on a dead line. */
const TURN_MS = 1_000;
/** More would take the connections of those who do not stand still. */
const MOST_GIVEN_UP = 4;

/**
 * A projection that falls behind has work for as many processors as the server has; pages that are read meanwhile then wait
 * for one. With one transaction at a time there is one for them; what that costs the projection is in decision 0024.
 *
 * A turn that takes too long is given up while its work goes on: a partition that stands still holds up no other, nor do
 * four. Of more, the others wait for the first to end.
 *
 * @param atOnce turns at the same time
 */
export function createTurns(atOnce = 1, turnMs = TURN_MS): InTurn {
  const limit = pLimit(atOnce);
  return (work) =>
    limit(async () => {
      let givenUp = 0;
      const end = setTimeout(() => {
        givenUp = limit.concurrency < atOnce + MOST_GIVEN_UP ? 1 : 0;
        limit.concurrency += givenUp;
      }, turnMs);
      try {
        return await work();
      } finally {
        clearTimeout(end);
        limit.concurrency -= givenUp;
      }
    });
}
