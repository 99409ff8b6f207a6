import { HOUR_MS, MINUTE_MS } from './units.js';
/**
 * How far two clocks may differ where their times are compared. Reading more than needed costs little, so most of these
 * are generous; `waypost doctor` warns beyond the smallest.
 */
export const CLOCK_TOLERANCE_MS = {
  /** A sender behind the broker that appends its attempt: beyond this a page counts as complete too early. */
  senderAndBroker: 5_000,
  /** A sender or replayer ahead of the broker, where a replay looks for its own records by time. */
  replayerAndBroker: MINUTE_MS,
  /** A sender ahead of public-api, which asks for all deliveries up to now. */
  senderAndApi: MINUTE_MS,
  /** public-api ahead of the broker, where it looks for what it has published before. */
  apiAndBroker: 5 * MINUTE_MS,
  /** The creator of a delivery ahead of its sender. It also decides which days are looked at. */
  creatorAndSender: HOUR_MS,
} as const;

/** The maximum difference that `waypost doctor` accepts. */
export const CLOCKS_AGREE_WITHIN_MS = Math.min(...Object.values(CLOCK_TOLERANCE_MS));
