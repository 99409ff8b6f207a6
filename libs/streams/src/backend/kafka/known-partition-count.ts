import { setTimeout as sleep } from 'node:timers/promises';

const ASK_AGAIN_FOR_MS = 3_000;
const ASK_AGAIN_AFTER_MS = 200;

/**
 * The number of partitions of a topic; null when it does not exist. A broker that has just started does not know its
 * topics yet and denies them, so a topic counts as missing only when it has been denied for seconds.
 */
export const knownPartitionCount = async (
  ask: () => Promise<number | null>,
  now: () => number,
): Promise<number | null> => {
  const startedAt = now();
  for (;;) {
    const count = await ask();
    if (count !== null || now() - startedAt >= ASK_AGAIN_FOR_MS) return count;
    await sleep(ASK_AGAIN_AFTER_MS);
  }
};
