import { setTimeout as sleep } from 'node:timers/promises';
import { SESSION_TIMEOUT_MS, startReady } from '../shared/app-instance.js';
import { createFaultInjector, type Fault, type FaultKind } from '../shared/fault.js';
import { createInjector, type Injector, type Scheduled } from '../shared/fault-run.js';
import { makeSchedule } from '../shared/schedule.js';
import { PARTITIONS } from '../shared/stage.js';
import { type SoakApp, type SoakStage, SPARED_FROM } from './stage.js';

const EVERY_MS = 12_000;
const KINDS: readonly FaultKind[] = [
  ...(['processor-kill', 'processor-kill', 'processor-pause', 'processor-restart', 'processor-replace'] as const),
  ...(['network-cut', 'network-hole', 'network-delay', 'network-throttle', 'registry-hole'] as const),
  ...(['broker-kill', 'broker-restart', 'broker-full', 'coordinator-kill'] as const),
];

/** What happens to the applications, their brokers and the ways between them; the same seed gives the same. */
export function soakSchedule(seed: number, durationMs: number): Scheduled<Fault>[] {
  return makeSchedule({
    seed,
    durationMs,
    instances: SPARED_FROM,
    running: SPARED_FROM,
    namedInstances: SPARED_FROM,
    brokers: 3,
    partitions: PARTITIONS,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    everyMs: EVERY_MS,
    kinds: KINDS,
  });
}

export function soakInjector(stage: SoakStage, hold: () => Promise<() => void>): Injector<Fault> {
  const { cutOff } = stage.delivery;
  const processors = stage.all.map(({ instance }) => instance);
  return createFaultInjector({ cluster: stage.cluster, registry: stage.registry, processors, cutOff, hold });
}

/** The instance is stopped as a deployment does it, and started as the other build. */
export interface Upgrade {
  readonly kind: 'upgrade';
  readonly instance: number;
}

/** Who reads a topic comes before who writes it: an older reader may not know what a newer writer writes. */
const ORDER: readonly SoakApp[] = ['history-projector', 'webhook-delivery', 'telemetry-processor'];

/** One after the other, evenly over the middle of the run, so that old and new work side by side. */
export function upgradeSchedule({ all }: Pick<SoakStage, 'all'>, durationMs: number): Scheduled<Upgrade>[] {
  const order = ORDER.flatMap((wanted) => all.filter(({ app }) => app === wanted));
  return order.map(({ instance: { instance } }, number) => ({
    atMs: Math.round(durationMs * (0.15 + (0.7 * number) / order.length)),
    fault: { kind: 'upgrade', instance },
  }));
}

const BETWEEN_MS = 500;

/** @param switchBuild from now on the instance starts as the other build */
export function upgradeInjector(stage: SoakStage, switchBuild: (instance: number) => void): Injector<Upgrade> {
  return createInjector<Upgrade>({
    targetsOf: () => ['the deployment'],
    async apply({ instance }) {
      const running = stage.all[instance]?.instance;
      if (running === undefined) return false;
      switchBuild(instance);
      await running.stop();
      await sleep(BETWEEN_MS);
      await startReady([running]);
      return true;
    },
  });
}
