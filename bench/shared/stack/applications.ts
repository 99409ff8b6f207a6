import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { waitUntil } from '../../../tools/dev-stack/processes/wait-until.js';
import { APP_NICENESS } from '../../../tools/dev-stack/start/programs.js';
import type { AppName } from '../../../tools/dev-stack/start/start-flags.js';
import { type BenchProcess, startBenchProcess } from '../processes/bench-process.js';
import type { BenchStack } from './bench-stack.js';

export interface Applications {
  /** Starts an instance and resolves when it is ready. */
  start(app: AppName, options?: StartOptions): Promise<RunningApp>;
}

export interface StartOptions {
  readonly instance?: number;
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** false: resolves at once. */
  readonly untilReady?: boolean;
}

export interface RunningApp extends BenchProcess {
  readonly adminUrl: string;
}

export interface ApplicationsOptions {
  readonly stack: BenchStack;
  /** The build whose applications are measured. */
  readonly dist: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const READY_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 2_000;

export function createApplications({ stack, dist, environment, signal }: ApplicationsOptions): Applications {
  const taken = new Set<number>();
  const starts = new Map<string, number>();

  return {
    async start(app, { instance = 0, nodeFlags = [], env = {}, untilReady = true } = {}) {
      const instanceId = `${app}-${String(instance)}`;
      const times = (starts.get(instanceId) ?? 0) + 1;
      starts.set(instanceId, times);
      const adminPort = await choosePort({ taken });
      taken.add(adminPort);
      // A log of its own for each start: what a killed process has written stays.
      const started = await startBenchProcess(stack, `${instanceId}.${String(times)}`, {
        file: process.execPath,
        args: [...nodeFlags, `${dist}/apps/${app}/src/main.js`],
        env: {
          ...environment,
          WAYPOST_SUPERVISED: 'true',
          WAYPOST_INSTANCE_ID: instanceId,
          WAYPOST_ADMIN_PORT: String(adminPort),
          WAYPOST_STATE_DIR: stack.file(`state-${instanceId}`),
          WAYPOST_SEALING_KEY: stack.keys.sealingKey,
          WAYPOST_PAGE_TOKEN_KEY: stack.keys.pageTokenKey,
          WAYPOST_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
          WAYPOST_ALLOW_HTTP: 'true',
          KAFKA_BROKERS: stack.kafka.brokers.join(','),
          SCHEMA_REGISTRY_URL: stack.registryUrl,
          DATABASE_URL: stack.databaseUrl,
          ...env,
        },
        channel: true,
        niceness: APP_NICENESS[app],
      });
      const adminUrl = `http://127.0.0.1:${String(adminPort)}`;
      const running = { ...started, adminUrl };
      if (untilReady) await untilAppReady(running, signal);
      return running;
    },
  };
}

async function untilAppReady({ adminUrl, failed }: RunningApp, signal: AbortSignal): Promise<void> {
  await waitUntil(
    async () => {
      signal.throwIfAborted();
      const response = await fetch(`${adminUrl}/health/ready`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
      const body = await response.text();
      if (!response.ok) throw new Error(`${adminUrl} answers ${String(response.status)}: ${body.slice(0, 300)}`);
    },
    { timeoutMs: READY_TIMEOUT_MS },
  ).catch((error: unknown) => {
    failed.throwIfAborted();
    throw error;
  });
}
