import { until } from '../../../../../test/support/until.js';
import type { AttemptRequest } from '../../single-attempt/attempt-runner.js';
import { type Answer, ATTEMPTS, ok, type SenderHarness } from './sender-harness.js';
import { wrapFeeds } from './wrap-feeds.js';

/** The next sender takes over. @returns what it sends, and from where on it folds the attempts */
export async function succeed(
  harness: SenderHarness,
  answer: Answer = () => ok,
): Promise<{ made: AttemptRequest[]; foldsFrom: number }> {
  const starts: number[] = [];
  const unwrap = wrapFeeds(harness.backend, (source, from, open) => {
    if (source.topic === ATTEMPTS.topic) starts.push(from);
    return open(source, from);
  });
  const made = await harness.start(answer);
  await until(() => starts.length > 0);
  unwrap();
  return { made, foldsFrom: starts[0] ?? NaN };
}
