import { type ChildProcess, fork } from 'node:child_process';
import type { WorkerAnswer, WorkerRequest } from './worker.js';

export type Verdict = { readonly type: 'answered'; readonly answer: WorkerAnswer } | { readonly type: 'timeout' };

/** Jest keeps what it has transformed, so a worker grows with every mutant. */
const RUNS_PER_WORKER = 60;
const MEMORY_MB = 3_000;

/** One warm worker, restarted when it hangs, dies or has grown. */
export class Worker {
  private child: ChildProcess | null = null;
  private runs = 0;

  async run(request: WorkerRequest, timeoutMs: number): Promise<Verdict> {
    if (this.runs++ >= RUNS_PER_WORKER) this.stop();
    const child = (this.child ??= this.start());
    return new Promise((resolve) => {
      const settle = (verdict: Verdict): void => {
        clearTimeout(timer);
        child.removeAllListeners('message').removeAllListeners('exit');
        if (verdict.type === 'timeout') this.stop();
        resolve(verdict);
      };
      // A worker that dies was killed by its mutant, e.g. out of memory.
      const timer = setTimeout(settle, timeoutMs, { type: 'timeout' });
      child.once('exit', () => settle({ type: 'timeout' }));
      child.once('message', (answer: WorkerAnswer) => settle({ type: 'answered', answer }));
      child.send(request);
    });
  }

  stop(): void {
    this.child?.kill('SIGKILL');
    this.child = null;
    this.runs = 0;
  }

  private start(): ChildProcess {
    const loader = ['--import', './test/support/typescript-loader.mjs'];
    const flags = ['--experimental-vm-modules', '--no-warnings', `--max-old-space-size=${String(MEMORY_MB)}`];
    return fork('tools/mutation/worker.ts', [], {
      execArgv: [...loader, ...flags],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
  }
}
