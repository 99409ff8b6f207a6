import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/** Gives Nest's own messages to our logger: its running commentary as debug, its warnings and errors as they are. */
export function createNestLogger(logger: Logger): LoggerService {
  const say =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void => {
      logger[level]('nest_message', { message, context: rest.at(-1) });
    };
  return {
    log: say('debug'),
    debug: say('debug'),
    verbose: say('debug'),
    warn: say('warn'),
    error: say('error'),
    fatal: say('error'),
  };
}
