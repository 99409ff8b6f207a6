import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const READY_TIMEOUT_MS = 90_000;
const POLL_MS = 50;
const KEPT_OUTPUT = 20_000;

/** public-api as a process of its own, run from the sources. It ends with this process. */
export interface ApiProcess {
  /** Resolves with its address when it answers requests. */
  ready(): Promise<string>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** What it has written of late, for a test that fails. */
  output(): string;
}

export function startApiProcess(env: Readonly<Record<string, string>>): ApiProcess {
  const child = spawn(
    process.execPath,
    ['--import', './test/support/typescript-loader.mjs', 'apps/public-api/src/main.ts'],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        PATH: process.env['PATH'],
        ...env,
        WAYPOST_SUPERVISED: 'true',
        // A port that is chosen before the process listens may be taken by another meanwhile.
        WAYPOST_PORT: '0',
        WAYPOST_ADMIN_PORT: '0',
      },
    },
  );
  let output = '';
  const take = (text: string): void => {
    output = (output + text).slice(-KEPT_OUTPUT);
  };
  child.stdout?.setEncoding('utf8').on('data', take);
  child.stderr?.setEncoding('utf8').on('data', take);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    ready: () => untilReady(child, () => output),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    output: () => output,
  };
}

async function untilReady(child: ChildProcess, output: () => string): Promise<string> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const admin = addressIn(output(), 'admin_listening');
    const address = addressIn(output(), 'http_listening');
    if (admin !== null && address !== null && (await isReady(admin))) return address;
    const failed = child.exitCode !== null || Date.now() > giveUpAt;
    if (failed) throw new Error(`public-api does not come up:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function isReady(adminAddress: string): Promise<boolean> {
  const answer = await fetch(`${adminAddress}/health/ready`).catch(() => null);
  return answer?.ok === true;
}

function addressIn(output: string, event: string): string | null {
  const line = output.split('\n').find((one) => one.includes(`"${event}"`) && one.endsWith('}'));
  return line === undefined ? null : `http://127.0.0.1:${String((JSON.parse(line) as { port: number }).port)}`;
}
