import { ATTEMPT_DEADLINE_MS } from '@waypost/domain';
import type { FlushIntervals } from '../commits/flush-scheduler.js';
import type { ReservationLimits } from '../shares/reservations.js';
import { DELIVERIES_BEGUN } from '../single-attempt/attempt-limits.js';
import type { BacklogLimits } from './backlogs/partition-backlogs.js';
import type { SlotLimits } from './scheduling/delivery-scheduler.js';

/** The limits that the subscriptions of a process share. */
export interface SenderSettings {
  readonly slots: SlotLimits;
  readonly reservations: ReservationLimits;
  /** `bytes` is per partition. */
  readonly unfinished: BacklogLimits & { readonly bytes: number };
  readonly unfinishedBytes: number;
  readonly flushes: FlushIntervals;
  readonly closeGraceMs: number;
}

/** SenderSettings */
export const SENDER_SETTINGS = Symbol('SENDER_SETTINGS');

const MIB = 1_048_576;

export const DEFAULT_SENDER_SETTINGS: SenderSettings = {
  // shares by fleet first, then by subscription.
  slots: { perSubscription: 64, perFleet: 128, perFleetBesideOthers: 32, total: 256 },
  reservations: DELIVERIES_BEGUN,
  // beyond `perSubscription`, or its share of the bytes, a subscription is parked, and the rest stays in the log.
  // A delivery that begins at once has ended after a minute, however its endpoint fails.
  unfinished: { perSubscription: 500, slowAfterMs: 120_000, bytes: 48 * MIB },
  unfinishedBytes: 256 * MIB,
  // attempts answered but not yet flushed are sent again after a kill.
  flushes: { intervalMs: 4, busyIntervalMs: 10 },
  // longer than an attempt can take, so that attempts in flight are not repeated when a partition moves.
  closeGraceMs: ATTEMPT_DEADLINE_MS + 500,
};
