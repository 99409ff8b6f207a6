import { Module } from '@nestjs/common';
import { ApiKeyStore, PortalSessionStore } from '@waypost/management-store';
import { CLOCK, CONFIG } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { type AdminKeys, createAdminKeys } from './admin-keys.js';
import { createKeyDirectory } from './key-directory.js';
import { createAddressLimiter, createRateLimiter } from './rate-limiter.js';

export const ADDRESS_LIMITER = Symbol('address limiter');
export const ADMIN_KEYS = Symbol('admin keys');
export const KEY_DIRECTORY = Symbol('key directory');
export const RATE_LIMITER = Symbol('rate limiter');

/** API keys, portal sessions and rate limits. */
@Module({
  providers: [
    {
      provide: ADMIN_KEYS,
      inject: [CONFIG],
      useFactory: ({ http }: PublicApiConfig) => createAdminKeys(http.adminKeyHashes),
    },
    {
      provide: KEY_DIRECTORY,
      inject: [ApiKeyStore, PortalSessionStore, ADMIN_KEYS, CLOCK],
      useFactory: (keys: ApiKeyStore, sessions: PortalSessionStore, admins: AdminKeys, now: () => number) =>
        createKeyDirectory({
          findApiKey: (hash) => keys.find(hash),
          findPortalSession: (hash, nowMs) => sessions.find(hash, nowMs),
          isAdminKey: (keyId) => admins.has(keyId),
          now,
        }),
    },
    {
      provide: RATE_LIMITER,
      inject: [CONFIG, CLOCK],
      useFactory: ({ http }: PublicApiConfig, now: () => number) => createRateLimiter(http.rateLimit, now),
    },
    {
      provide: ADDRESS_LIMITER,
      inject: [CONFIG, CLOCK],
      useFactory: ({ http }: PublicApiConfig, now: () => number) =>
        createAddressLimiter(createRateLimiter(http.addressRateLimit, now)),
    },
  ],
  exports: [ADMIN_KEYS, KEY_DIRECTORY, RATE_LIMITER, ADDRESS_LIMITER],
})
export class AuthModule {}
