import { groupBy } from '../../../support/group-by.js';
import type { Observations, Receipt } from './observations.js';
import type { ProblemList } from './problem-list.js';

/**
 * one token for each process and subscription until a 401, and never again the one that got that. A request that is in
 * flight when its process is stopped or loses its partitions is made again.
 */
export function checkTokens(
  {
    receipts,
    tokenRequests,
    expected,
    interruptions,
  }: Pick<Observations, 'receipts' | 'tokenRequests' | 'expected' | 'interruptions'>,
  problems: ProblemList,
): void {
  for (const { clientId, problem } of tokenRequests)
    if (problem !== null) problems.add('token request that is refused', `${clientId}: ${problem}`);
  const paths = new Map(expected.map(({ subscriptionId, path }) => [subscriptionId, path]));
  const refusals = receipts.filter(({ status }) => status === 401);
  const refused = groupBy(refusals, ({ source, path }) => `${source} ${path}`);
  for (const [who, requests] of groupBy(
    tokenRequests,
    ({ source, clientId }) => `${source} ${paths.get(clientId) ?? clientId}`,
  )) {
    const again = interruptions.filter(({ source }) => source === requests[0]?.source);
    const most = 1 + (refused.get(who)?.length ?? 0) + again.length;
    if (requests.length > most)
      problems.add(
        'more token requests than 401s need',
        `${who}: ${String(requests.length)} instead of ${String(most)}`,
      );
  }
  const refusedWith = groupBy(refusals, ({ eventId }) => eventId);
  for (const one of receipts) {
    const before = refusedWith.get(one.eventId) ?? [];
    if (before.some((earlier) => isRetryWithSameToken(one, earlier)))
      problems.add('token that was refused is used again', `attempt ${String(one.attempt)} of ${one.eventId}`);
  }
}

function isRetryWithSameToken(one: Receipt, earlier: Receipt): boolean {
  return one.attempt > earlier.attempt && one.token === earlier.token;
}
