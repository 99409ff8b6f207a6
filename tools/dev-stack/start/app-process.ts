import { join } from 'node:path';
import type { DataDir } from '../data-dir/data-dir.js';
import type { Guardian } from '../processes/guardian.js';
import { createManagedProcess, type ManagedProcess } from '../processes/managed-process.js';
import type { StackReporter } from '../stack-reporter.js';
import type { Environment } from './start-config.js';

export interface AppProcessContext {
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  readonly reporter: StackReporter;
  readonly onReplaced: () => void;
}

interface AppProcessOptions extends AppProcessContext {
  readonly name: string;
  readonly program: string;
  readonly env: Environment;
  readonly args?: readonly string[];
  readonly niceness?: number | undefined;
  /** The port at which the readiness of an application is checked. A demo process counts as ready once it is started. */
  readonly adminPort?: number;
  readonly onOutput?: (text: string) => void;
}

const PROBE_TIMEOUT_MS = 2_000;
/** Demo, applications and parts stop one after another, all within 10 s. */
const APP_STOP_GRACE_MS = 4_000;
const DEMO_STOP_GRACE_MS = 1_500;

/** One Node process of the stack, logging to `logs/<name>.log`. */
export function createAppProcess({
  name,
  program,
  env,
  args = [],
  niceness,
  adminPort,
  onOutput,
  ...context
}: AppProcessOptions): ManagedProcess {
  return createManagedProcess({
    name,
    logFile: join(context.dataDir.logsDir, `${name}.log`),
    command: () => ({ file: process.execPath, args: [program, ...args], env, channel: true, niceness, onOutput }),
    probe: () => (adminPort === undefined ? Promise.resolve() : probeReadiness(adminPort)),
    stopGraceMs: adminPort === undefined ? DEMO_STOP_GRACE_MS : APP_STOP_GRACE_MS,
    guardian: context.guardian,
    reporter: context.reporter,
    onReplaced: context.onReplaced,
  });
}

async function probeReadiness(adminPort: number): Promise<void> {
  const url = `http://127.0.0.1:${String(adminPort)}/health/ready`;
  const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
  const body = await response.text();
  if (!response.ok) throw new Error(`${url} answers ${String(response.status)}: ${body.slice(0, 300)}`);
}
