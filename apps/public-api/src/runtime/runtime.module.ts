import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { UrlCheckOptions } from '@waypost/egress';
import type { FleetLimits } from '@waypost/management-store';

/** The few log methods that this application uses. */
export interface ApiLogger {
  debug(event: string, fields?: Record<string, unknown>): void;
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
}

/** How often one caller may call: `perSecond` on average, `burst` at once. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** The part of the configuration that requests depend on. */
export interface ApiSettings {
  /** 32 bytes: the AES-256-GCM key of stored secrets. */
  readonly sealingKeys: readonly Buffer[];
  /** 32 bytes: authenticates page tokens. */
  readonly pageTokenKeys: readonly Buffer[];
  /** Per API key. */
  readonly rateLimit: RateLimit;
  /** Per address, for requests without a live key. */
  readonly addressRateLimit: RateLimit;
  readonly fleetLimits: FleetLimits;
  /** Where subscribers' URLs may lead (R-18). */
  readonly egress: UrlCheckOptions;
}

/** Epoch milliseconds. */
export type Clock = () => number;
/** Cryptographically secure. */
export type RandomBytes = (size: number) => Buffer;
export type NewId = () => string;

export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
export const NEW_ID = Symbol('new id');
export const RANDOM_BYTES = Symbol('random bytes');
export const SETTINGS = Symbol('settings');

export interface RuntimeValues {
  readonly logger: ApiLogger;
  readonly settings: ApiSettings;
  readonly now: Clock;
  readonly randomBytes: RandomBytes;
  readonly newId: NewId;
}

/** Time, randomness, logger and settings for every module. */
@Global()
@Module({})
export class RuntimeModule {
  static forRoot({ logger, settings, now, randomBytes, newId }: RuntimeValues): DynamicModule {
    const providers = [
      { provide: LOGGER, useValue: logger },
      { provide: SETTINGS, useValue: settings },
      { provide: CLOCK, useValue: now },
      { provide: RANDOM_BYTES, useValue: randomBytes },
      { provide: NEW_ID, useValue: newId },
    ];
    return { module: RuntimeModule, providers, exports: providers };
  }
}
