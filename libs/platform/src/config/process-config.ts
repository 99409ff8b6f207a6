import { z } from 'zod';
import { asFlag, asInteger, asOneOf, withDefault } from './variables.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What every application needs to run as a process. */
export interface ProcessConfig {
  /** Port of health, readiness and metrics on 127.0.0.1; 0 takes any free one. */
  readonly adminPort: number;
  readonly logLevel: LogLevel;
  /** Kafka static membership, e.g. `webhook-delivery-0`; undefined: a dynamic member. */
  readonly instanceId: string | undefined;
  /** The application ends when the process that started it goes away. */
  readonly supervised: boolean;
}

/** WAYPOST_ADMIN_PORT, LOG_LEVEL, WAYPOST_INSTANCE_ID, WAYPOST_SUPERVISED; all have defaults. */
export const processConfig: z.ZodType<ProcessConfig> = z
  .object({
    WAYPOST_ADMIN_PORT: withDefault(asInteger(0, 65_535), 'a port number, or 0 for any free port', 0),
    LOG_LEVEL: withDefault(asOneOf(...LOG_LEVELS), `one of ${LOG_LEVELS.join(', ')}`, 'info'),
    WAYPOST_INSTANCE_ID: withDefault(
      (text) => (/^[\w.-]{1,100}$/.test(text) ? text : undefined),
      'at most 100 letters, digits, dots, dashes or underscores, different for each instance',
      undefined,
    ),
    WAYPOST_SUPERVISED: withDefault(asFlag, 'true or false', false),
  })
  .transform((env) => ({
    adminPort: env.WAYPOST_ADMIN_PORT,
    logLevel: env.LOG_LEVEL,
    instanceId: env.WAYPOST_INSTANCE_ID,
    supervised: env.WAYPOST_SUPERVISED,
  }));
