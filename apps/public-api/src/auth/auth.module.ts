import { Module } from '@nestjs/common';
import { CLOCK, CONFIG } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { AddressLimiter } from '../limits/address-limiter.js';
import { RateLimiter } from '../limits/rate-limiter.js';
import { AdminKeys } from './admin-keys.js';
import { KeyDirectory } from './key-directory.js';

type HttpConfig = Pick<PublicApiConfig, 'http'>;

/** API keys, portal sessions and rate limits. */
@Module({
  imports: [ApiDatabaseModule],
  providers: [
    { provide: AdminKeys, inject: [CONFIG], useFactory: ({ http }: HttpConfig) => new AdminKeys(http.adminKeyHashes) },
    KeyDirectory,
    {
      provide: RateLimiter,
      inject: [CONFIG, CLOCK],
      useFactory: ({ http }: HttpConfig, nowMs: () => number) => new RateLimiter(http.rateLimit, nowMs),
    },
    {
      provide: AddressLimiter,
      inject: [CONFIG, CLOCK],
      useFactory: ({ http }: HttpConfig, nowMs: () => number) =>
        new AddressLimiter(new RateLimiter(http.addressRateLimit, nowMs)),
    },
  ],
  exports: [AdminKeys, KeyDirectory, RateLimiter, AddressLimiter],
})
export class AuthModule {}
