/** The logger that the runtime needs: an event name in snake_case and plain fields. */
export interface StreamsLogger {
  debug(event: string, fields?: Record<string, unknown>): void;
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
}

function ignore(): void {
  // For tests and short-lived tools.
}

export const silentLogger: StreamsLogger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
