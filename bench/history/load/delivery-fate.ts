import type { Receiver } from './fleets.js';
import type { Random } from './random.js';

/** What becomes of one attempt. */
export interface AttemptFate {
  readonly statusCode: number | null;
  readonly errorCode: string | null;
  readonly outcome: 'delivered' | 'retrying' | 'failed';
  readonly decision: string;
}

const MAX_ATTEMPTS = 5;
/** With the dead receivers this makes one delivery in ten that has several attempts. */
const RETRIED = 0.08;
const REFUSED = 0.015;
const PERMANENT = [410, 404, 400, 401] as const;
const TEMPORARY = [503, 503, 503, 500, 502, 429, null, null] as const;

const choose = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)] as T;

/** All attempts of one delivery, in order; at least one. Nearly all deliveries are accepted at once. */
export type DeliveryFate = readonly [AttemptFate, ...AttemptFate[]];

export function fateOf(receiver: Receiver, random: Random): DeliveryFate {
  if (receiver.type === 'dead') return exhausted(random);
  const accepted = acceptedWith(receiver.statusCode);
  const luck = random();
  if (luck >= RETRIED + REFUSED) return [accepted];
  if (luck < REFUSED) return [refusedWith(choose(PERMANENT, random))];
  if (random() < 0.15) return exhausted(random);
  // Half of them succeed with the second attempt.
  const tries = 1 + Math.min(MAX_ATTEMPTS - 2, Math.floor(-Math.log2(1 - random())));
  const retried = Array.from({ length: tries - 1 }, () => temporary(random, 'retrying'));
  return [temporary(random, 'retrying'), ...retried, accepted];
}

const exhausted = (random: Random): DeliveryFate => [
  temporary(random, 'retrying'),
  ...Array.from({ length: MAX_ATTEMPTS - 2 }, () => temporary(random, 'retrying')),
  temporary(random, 'failed'),
];

const acceptedWith = (statusCode: number): AttemptFate => ({
  statusCode,
  errorCode: null,
  outcome: 'delivered',
  decision: 'accepted',
});

const refusedWith = (statusCode: number): AttemptFate => ({
  statusCode,
  errorCode: null,
  outcome: 'failed',
  decision: 'permanent_status',
});

function temporary(random: Random, outcome: 'retrying' | 'failed'): AttemptFate {
  const statusCode = choose(TEMPORARY, random);
  const reason = statusCode === null ? 'no_response' : 'temporary_status';
  return {
    statusCode,
    errorCode: statusCode === null ? 'timeout' : null,
    outcome,
    decision: outcome === 'failed' ? 'attempts_exhausted' : reason,
  };
}
