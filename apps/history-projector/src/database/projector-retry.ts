import { Inject, Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { DatabaseRetry } from '@waypost/database';
import { LOGGER, type Logger, MONOTONIC_CLOCK, Readiness } from '@waypost/platform';
import { waitOrAbort } from '@waypost/streams/admin';

/** Shows in a metric and in the readiness of the process whether the database responds. */
@Injectable()
export class ProjectorRetry extends DatabaseRetry {
  constructor(
    @Inject(LOGGER) logger: Logger,
    @Inject(MONOTONIC_CLOCK) monotonicMs: () => number,
    registry: Registry,
    readiness: Readiness,
  ) {
    const gauge = new Gauge({
      name: 'waypost_projection_database_available',
      help: '1 while the database responds, 0 while the projection waits for it.',
      registers: [registry],
    });
    gauge.set(1);
    super({ logger, monotonicMs, wait: waitOrAbort, onChange: (available) => gauge.set(available ? 1 : 0) });
    readiness.add('database', () => this.available());
  }
}
