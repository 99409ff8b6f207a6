import type { WebhookAttempt } from '@waypost/domain';
import type { AttemptLogReader } from '../attempt-stream/attempt-log-reader.js';

/** A log that has an end: the stream of it ends as well. */
export function finishedLog(attempts: readonly WebhookAttempt[]): AttemptLogReader {
  return {
    follow: async (from, { begin, take }) => {
      begin(from ?? [1, 0]);
      const given = attempts.map((attempt, index) => ({ attempt, position: [1, index + 1] }));
      await take({ attempts: given, position: [1, attempts.length] });
    },
  };
}
