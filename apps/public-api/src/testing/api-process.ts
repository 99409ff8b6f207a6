import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { choosePort } from '../../../../tools/dev-stack/free-port.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const READY_TIMEOUT_MS = 90_000;
const POLL_MS = 50;
const KEPT_OUTPUT = 20_000;

/** public-api as a process of its own, run from the sources. It ends with this process. */
export interface ApiProcess {
  readonly url: string;
  /** Resolves when it answers requests. */
  ready(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** What it has written of late, for a test that fails. */
  output(): string;
}

export async function startApiProcess(env: Readonly<Record<string, string>>): Promise<ApiProcess> {
  const [port, adminPort] = [await choosePort(), await choosePort()];
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
        WAYPOST_PORT: String(port),
        WAYPOST_ADMIN_PORT: String(adminPort),
      },
    },
  );
  let output = '';
  const take = (text: string): void => {
    output = (output + text).slice(-KEPT_OUTPUT);
  };
  child.stdout?.setEncoding('utf8').on('data', take);
  child.stderr?.setEncoding('utf8').on('data', take);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  return {
    url: `http://127.0.0.1:${String(port)}`,
    ready: () => untilReady(child, `http://127.0.0.1:${String(adminPort)}/health/ready`, () => output),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    output: () => output,
  };
}

async function untilReady(child: ChildProcess, url: string, output: () => string): Promise<void> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok === true) return;
    const failed = child.exitCode !== null || Date.now() > giveUpAt;
    if (failed) throw new Error(`public-api does not come up:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
