import { afterEach, expect, it } from '@jest/globals';
import { Global, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { EgressClient } from '@waypost/egress';
import { CONFIG, MONOTONIC_CLOCK } from '@waypost/platform';
import { until } from '../../../../test/support/until.js';
import { EgressModule } from '../single-attempt/attempt.module.js';
import { TOKEN_REQUESTS } from '../single-attempt/attempt-limits.js';
import { DEFAULT_SENDER_SETTINGS } from './sender-settings.js';
import { silent, startEndpoint, type TestEndpoint } from './testing/test-endpoint.js';

const config = { egress: { allowedSubnets: ['127.0.0.0/8'], denied: [], allowHttp: true } };

@Global()
@Module({
  providers: [
    { provide: CONFIG, useValue: config },
    { provide: MONOTONIC_CLOCK, useValue: () => performance.now() },
  ],
  exports: [CONFIG, MONOTONIC_CLOCK],
})
class ConfigModule {}

let module: TestingModule;
let endpoints: TestEndpoint[];

afterEach(async () => {
  await module.close();
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
});

it('what is reserved has a connection each beside token requests, also when all is due at once at several origins (R-22)', async () => {
  module = await Test.createTestingModule({ imports: [ConfigModule, EgressModule] }).compile();
  endpoints = await Promise.all([silent, silent, silent].map((behavior) => startEndpoint(behavior)));
  const client = module.get(EgressClient);
  const perOrigin = DEFAULT_SENDER_SETTINGS.reservations.perOrigin + TOKEN_REQUESTS.perOrigin;
  for (const { url } of endpoints)
    for (let n = 0; n < perOrigin; n++) void client.post({ url, headers: {}, body: '{}', deadlineMs: 60_000 });
  await until(() => {
    expect(endpoints.map(({ connections }) => connections)).toEqual(endpoints.map(() => perOrigin));
  });
});
