/**
 * Outlives the stack's process just long enough to end what that process started. It runs in its own session and waits
 * for the end of its standard input, which comes when the other process is gone for whatever reason, SIGKILL included.
 * After a clean stop there is nothing left to do.
 */
import { createInterface } from 'node:readline';
import type { GuardianMessage } from './guardian-messages.js';
import { isAlive, processesMarked, signalGroup } from './process-identity.js';

type Watched = Extract<GuardianMessage, { type: 'watch' }>;

const ROUND_MS = 100;
/** Postgres gets this long to end its own children; everything else is killed in the first round. */
const GRACE_ROUNDS = 8;
const ROUNDS = 30;

process.title = 'waypost-guardian';
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const mark = process.argv[2] ?? '';
const watched = new Map<number, Watched>();

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message = JSON.parse(line) as GuardianMessage;
  if (message.type === 'watch') watched.set(message.pid, message);
  else watched.delete(message.pid);
});
lines.once('close', () => void endOrphans());

async function endOrphans(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const living = [...watched.values()].filter(isAlive);
    // A process may have been started just before the end, too late to be announced: its mark identifies it.
    const strays = processesMarked(mark).filter((pid) => !watched.has(pid));
    // The first rounds check again even if nothing is left, for processes that were just being forked.
    if (living.length + strays.length === 0 && (watched.size === 0 || round > 2)) break;
    for (const { pid, signal } of living) {
      if (round === 0) signalGroup(pid, signal);
      else if (signal === 'SIGKILL' || round > GRACE_ROUNDS) signalGroup(pid, 'SIGKILL');
    }
    // Strays may be children of a part in its grace period.
    if (living.every(({ signal }) => signal === 'SIGKILL') || round > GRACE_ROUNDS) {
      for (const pid of strays) signalGroup(pid, 'SIGKILL');
    }
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
  process.exit(0);
}
