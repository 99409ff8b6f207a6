import { Global, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { CONFIG, type EgressConfig, MONOTONIC_CLOCK } from '@waypost/platform';
import { EgressModule } from '../attempt.module.js';

/** The HTTP client as the process wires it. A `lookup` answers in place of the name server. */
export function startEgressModule(egress: EgressConfig): Promise<TestingModule> {
  @Global()
  @Module({
    providers: [
      { provide: CONFIG, useValue: { egress } },
      { provide: MONOTONIC_CLOCK, useValue: () => performance.now() },
    ],
    exports: [CONFIG, MONOTONIC_CLOCK],
  })
  class ConfigModule {}

  return Test.createTestingModule({ imports: [ConfigModule, EgressModule] }).compile();
}
