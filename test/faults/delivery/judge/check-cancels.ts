import type { Observations } from './observations.js';
import type { ProblemList } from './problem-list.js';
import { SETTLES_MS, wasDisturbed } from './settings.js';

/** a replay that is cancelled writes nothing more. */
export function checkCancels(
  { cancels, deliveries, interruptions }: Pick<Observations, 'cancels' | 'deliveries' | 'interruptions'>,
  problems: ProblemList,
): void {
  const cancelledMs = new Map(cancels.map(({ replayId, knownMs }) => [replayId, knownMs]));
  for (const { replayId, eventId, loggedMs } of deliveries) {
    const sinceMs = loggedMs - (cancelledMs.get(replayId ?? '') ?? Infinity);
    if (sinceMs > SETTLES_MS && !wasDisturbed(interruptions, loggedMs))
      problems.add('delivery of a replay that was cancelled', `${eventId}, ${String(sinceMs)} ms after that`);
  }
}
