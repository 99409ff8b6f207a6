/** the time from the start of an attempt to its status line. */
export const ATTEMPT_DEADLINE_MS = 5_000;
/** how much of a response body is kept. */
export const MAX_KEPT_BODY_BYTES = 4_096;
/** how much of a refusing receiver's text goes into the log. */
export const MAX_RESPONSE_TEXT_BYTES = 1_024;
