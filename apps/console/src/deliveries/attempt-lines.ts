import type { V2Event } from '@waypost/client';
import { countText } from '../shared/time-text.js';

type Delivery = V2Event['delivery'];
type Attempt = Delivery['attempts'][number];

/** What the history keeps of more probes than twice as many: these at their beginning, and as many of the newest. */
const FIRST_PROBES = 20;

/** Errors of a last line that is no attempt: nothing was sent any more. */
const ENDS: Readonly<Record<string, string>> = {
  expired: 'it had waited for too long',
  subscription_deleted: 'its subscription was deleted',
  subscription_disabled: 'its subscription was disabled',
};

/** Why a delivery ended without an attempt, if that is what this line says; null: it is an attempt or a probe. */
export function endText({ error = '', statusCode }: Attempt): string | null {
  return statusCode === undefined ? (ENDS[error] ?? null) : null;
}

export interface AttemptLine {
  readonly type: 'sent' | 'end';
  readonly attempt: Attempt;
  readonly name: string;
  /** So many probes before it are not in the history. */
  readonly missingBefore: number;
}

/** The lines of a delivery with their names, each probe under its own number. */
export function attemptLines({ attempts, probeCount = 0 }: Pick<Delivery, 'attempts' | 'probeCount'>): AttemptLine[] {
  const missing = Math.max(0, probeCount - attempts.filter(isProbe).length);
  let probes = 0;
  return attempts.map((attempt) => {
    if (endText(attempt) !== null) return { type: 'end', attempt, name: 'End', missingBefore: 0 };
    if (!isProbe(attempt))
      return { type: 'sent', attempt, name: `Attempt ${String(attempt.attempt)}`, missingBefore: 0 };
    const missingBefore = probes === FIRST_PROBES ? missing : 0;
    probes += 1 + missingBefore;
    return { type: 'sent', attempt, name: `Probe ${countText(probes)}`, missingBefore };
  });
}

export function isProbe({ probe }: Attempt): boolean {
  return probe === true;
}

/** `2 attempts and 1 probe`; '': none of either. */
export function madeText({ attemptCount, probeCount = 0 }: Pick<Delivery, 'attemptCount' | 'probeCount'>): string {
  const counts = [counted(attemptCount, 'attempt'), counted(probeCount, 'probe')];
  return counts.filter((text) => text !== '').join(' and ');
}

function counted(count: number, name: string): string {
  if (count === 0) return '';
  return `${countText(count)} ${name}${count === 1 ? '' : 's'}`;
}
