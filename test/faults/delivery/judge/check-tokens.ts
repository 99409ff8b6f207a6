import { groupBy } from '../../../support/group-by.js';
import type { Observations, Receipt } from './observations.js';
import type { ProblemList } from './problem-list.js';

type Observed = Pick<Observations, 'receipts' | 'tokenRequests' | 'expected' | 'attempts'>;

/**
 * one token for each process and subscription until a 401, and never again the one that got that. A request that got no
 * answer in time is made again, and the attempt that waited for it says so.
 */
export function checkTokens({ receipts, tokenRequests, expected, attempts }: Observed, problems: ProblemList): void {
  for (const { clientId, problem } of tokenRequests)
    if (problem !== null) problems.add('token request that is refused', `${clientId}: ${problem}`);
  const paths = new Map(expected.map(({ subscriptionId, path }) => [subscriptionId, path]));
  const refusals = receipts.filter(({ status }) => status === 401);
  const refused = groupBy(refusals, ({ source, path }) => `${source} ${path}`);
  const withoutToken = groupBy(
    attempts.filter(({ errorCode }) => errorCode === 'token_error'),
    ({ subscriptionId }) => subscriptionId,
  );
  for (const [who, requests] of groupBy(
    tokenRequests,
    ({ source, clientId }) => `${source} ${paths.get(clientId) ?? clientId}`,
  )) {
    const unanswered = withoutToken.get(requests[0]?.clientId ?? '')?.length ?? 0;
    const most = 1 + (refused.get(who)?.length ?? 0) + unanswered;
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
