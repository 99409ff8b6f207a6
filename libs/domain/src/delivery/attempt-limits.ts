/** from the start of an attempt to its status line. */
export const ATTEMPT_DEADLINE_MS = 5_000;
/** the bytes that are kept of the body of a response. */
export const MAX_KEPT_BODY_BYTES = 4_096;
/** what the log keeps of what a refusing receiver said. */
export const MAX_RESPONSE_TEXT_BYTES = 1_024;
