import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * The registry of one running application, with Node's default metrics. Parts register theirs in it
 * (`new Counter({ ..., registers: [metrics] })`); prom-client's global registry is not used.
 */
export function createMetrics(app: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ app });
  collectDefaultMetrics({ register: registry });
  return registry;
}
