import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { type Logger, Readiness } from '@waypost/platform';
import { silentLogger } from '@waypost/streams';
import { ProjectorRetry } from './projector-retry.js';

it('the metric and the readiness of a projector say whether the database responds (R-40)', async () => {
  const registry = new Registry();
  const readiness = new Readiness();
  const retry = new ProjectorRetry(silentLogger as Logger, () => 0, registry, readiness);
  const seen: string[] = [];
  const look = async () => {
    const metric = /^waypost_projection_database_available .*$/m.exec(await registry.metrics())?.[0];
    seen.push(`${String(metric)}, ${readiness.ready() ? 'ready' : 'not ready'}`);
  };

  let tries = 0;
  const work = async () => {
    await look();
    tries += 1;
    if (tries === 1) throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
  };
  await retry.run(work, new AbortController().signal);
  await look();

  expect(seen).toEqual([
    'waypost_projection_database_available 1, ready',
    'waypost_projection_database_available 0, not ready',
    'waypost_projection_database_available 1, ready',
  ]);
});
