import type { LoggerService } from '@nestjs/common';
import { destination, type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import type { StreamsLogger } from '@waypost/streams';
import type { LogLevel } from '../config/service-config.js';
import { redactFields } from './redact.js';

/**
 * One JSON line per event on standard output: `{"level","time","app","event",...fields}`. The event is a snake_case
 * name, everything variable is a field. Secrets and payloads never get through (see redact.ts).
 */
export interface Logger extends StreamsLogger {
  fatal(event: string, fields?: Record<string, unknown>): void;
  /** A logger that adds these fields to each of its lines. */
  with(fields: Record<string, unknown>): Logger;
}

export interface LoggerOptions {
  readonly app: string;
  readonly level: LogLevel;
  /** Where lines go; default: standard output. */
  readonly output?: DestinationStream;
}

export function createLogger({ app, level, output }: LoggerOptions): Logger {
  const options = {
    level,
    base: { app },
    messageKey: 'event',
    formatters: { level: (label: string) => ({ level: label }) },
  };
  // Synchronous, so that the last line before an exit is written.
  return fromPino(pino(options, output ?? destination({ dest: 1, sync: true })));
}

function fromPino(inner: PinoLogger): Logger {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error' | 'fatal') =>
    (event: string, fields?: Record<string, unknown>): void => {
      if (inner.isLevelEnabled(level)) inner[level](lineFields(fields), event);
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    with: (fields) => fromPino(inner.child(lineFields(fields))),
  };
}

const LINE_NAMES = new Set(['level', 'time', 'app', 'event']);

/** Renames fields that would collide with the line's own and appear twice in the JSON. */
function lineFields(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const entries = Object.entries(redactFields(fields));
  return Object.fromEntries(entries.map(([name, value]) => [LINE_NAMES.has(name) ? `${name}_` : name, value]));
}

/** Passes Nest's messages to our logger: its running commentary as debug, its warnings and errors as they are. */
export function createNestLogger(logger: Logger): LoggerService {
  const say =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void =>
      logger[level]('nest_message', { message, context: rest.at(-1) });
  return {
    log: say('debug'),
    debug: say('debug'),
    verbose: say('debug'),
    warn: say('warn'),
    error: say('error'),
    fatal: say('error'),
  };
}
