import { Module } from '@nestjs/common';
import type { ManagementStore } from '@waypost/management-store';
import { MANAGEMENT_STORE } from '../database/database.module.js';
import { type ApiSettings, type Clock, CLOCK, SETTINGS } from '../runtime/runtime.module.js';
import { createAddressLimiter } from './address-limiter.js';
import { createKeyDirectory } from './key-directory.js';
import { createRateLimiter } from './rate-limiter.js';

export const ADDRESS_LIMITER = Symbol('address limiter');
export const KEY_DIRECTORY = Symbol('key directory');
export const RATE_LIMITER = Symbol('rate limiter');

/** API keys and rate limits. */
@Module({
  providers: [
    {
      provide: KEY_DIRECTORY,
      inject: [MANAGEMENT_STORE, CLOCK],
      useFactory: (store: ManagementStore, now: Clock) =>
        createKeyDirectory({ findApiKey: (hash) => store.findApiKey(hash), now }),
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
