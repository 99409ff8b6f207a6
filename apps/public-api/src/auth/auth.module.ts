import { Module } from '@nestjs/common';
import { ApiKeyStore } from '@waypost/management-store';
import { type ApiSettings, CLOCK, type Clock, SETTINGS } from '../runtime/runtime.module.js';
import { createKeyDirectory } from './key-directory.js';
import { createAddressLimiter, createRateLimiter } from './rate-limiter.js';

export const ADDRESS_LIMITER = Symbol('address limiter');
export const KEY_DIRECTORY = Symbol('key directory');
export const RATE_LIMITER = Symbol('rate limiter');

/** API keys and rate limits. */
@Module({
  providers: [
    {
      provide: KEY_DIRECTORY,
      inject: [ApiKeyStore, CLOCK],
      useFactory: (keys: ApiKeyStore, now: Clock) => createKeyDirectory({ findApiKey: (hash) => keys.find(hash), now }),
    },
    {
      provide: RATE_LIMITER,
      inject: [SETTINGS, CLOCK],
      useFactory: ({ rateLimit }: ApiSettings, now: Clock) => createRateLimiter(rateLimit, now),
    },
    {
      provide: ADDRESS_LIMITER,
      inject: [SETTINGS, CLOCK],
      useFactory: ({ addressRateLimit }: ApiSettings, now: Clock) =>
        createAddressLimiter(createRateLimiter(addressRateLimit, now)),
    },
  ],
})
export class AuthModule {}
