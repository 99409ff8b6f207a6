import { type ProcessUsage, sumUsage, treeUsage, usageOf } from '../../shared/processes/process-usage.js';
import type { Applications, RunningApp } from '../../shared/stack/applications.js';
import type { BenchStack } from '../../shared/stack/bench-stack.js';

/** The parts that work on a delivery. */
export const PARTS = ['webhook-delivery', 'broker', 'history-projector', 'postgres', 'registry'] as const;
export type Part = (typeof PARTS)[number];
export type SystemUsage = Readonly<Record<Part, ProcessUsage>>;

/** What is under measurement: webhook-delivery, the broker, and what keeps the history. */
export interface System {
  /** Starts what is not running, and resolves when it is ready. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Kills the first instance of webhook-delivery. */
  killSender(): Promise<void>;
  /** Starts the first instance again; resolves before it is ready. */
  restartSender(): Promise<void>;
  usage(): SystemUsage;
  /** The value of a metric of webhook-delivery, all labels and instances together. */
  metric(name: string): Promise<number>;
  /** Aborted when a part ends unasked. */
  failed(): AbortSignal;
}

export interface SystemOptions {
  readonly stack: BenchStack;
  readonly applications: Applications;
  readonly instances: number;
  readonly nodeFlags: readonly string[];
  /** Of webhook-delivery. */
  readonly env: Readonly<Record<string, string>>;
}

const NOTHING: ProcessUsage = { cpuSeconds: 0, peakMiB: 0 };

export function createSystem(options: SystemOptions): System {
  const { stack, applications, instances, nodeFlags, env } = options;
  const senders: RunningApp[] = [];
  let projector: RunningApp | null = null;

  const startSender = (instance: number, untilReady: boolean): Promise<RunningApp> =>
    applications.start('webhook-delivery', { instance, nodeFlags, env, untilReady });

  return {
    async start() {
      projector ??= await applications.start('history-projector');
      while (senders.length < instances) senders.push(await startSender(senders.length, true));
    },
    async stop() {
      const running = [...senders.splice(0), ...(projector === null ? [] : [projector])];
      projector = null;
      await Promise.all(running.map((app) => app.stop()));
    },
    async killSender() {
      await senders[0]?.kill();
    },
    async restartSender() {
      senders[0] = await startSender(0, false);
    },
    usage: () => ({
      'webhook-delivery': sumUsage(senders.map((sender) => sender.usage())),
      broker: usageOf(stack.brokerPid),
      'history-projector': projector?.usage() ?? NOTHING,
      postgres: treeUsage(stack.postgresPid),
      registry: usageOf(stack.registryPid),
    }),
    async metric(name) {
      const pages = await Promise.all(senders.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()));
      const line = new RegExp(`^${name}(?:{.*})? (.+)$`, 'gm');
      const values = pages.flatMap((page) => [...page.matchAll(line)].map(([, value]) => Number(value)));
      return values.reduce((total, value) => total + value, 0);
    },
    failed: () => AbortSignal.any([...senders, ...(projector === null ? [] : [projector])].map(({ failed }) => failed)),
  };
}
