import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { GuardianMessage } from './guardian-messages.js';
import { startTimeOf } from './process-identity.js';

/** Ends the registered processes when this process disappears. */
export interface Guardian {
  /** `NAME=value` in the environment of every process of this stack. */
  readonly mark: string;
  /** `orphanSignal` is sent to the process when it is left behind; SIGKILL follows if needed. */
  watch(pid: number, orphanSignal: NodeJS.Signals): void;
  forget(pid: number): void;
  pid(): number | undefined;
  close(): Promise<void>;
}

interface GuardianOptions {
  readonly mark: string;
  readonly logFile: string;
}

type Watched = Extract<GuardianMessage, { type: 'watch' }>;

const RESPAWN_MS = 100;

export function startGuardian({ mark, logFile }: GuardianOptions): Guardian {
  const watched = new Map<number, Watched>();
  let closing = false;
  let child = open();

  function open(): ChildProcess {
    const log = openSync(logFile, 'a');
    // Runs in its own session: a terminal's Ctrl-C or a signal to this process group does not reach it.
    const process_ = spawn(process.execPath, [...inheritedFlags(), guardianFile, mark], {
      detached: true,
      stdio: ['pipe', log, log],
      // Has no mark, by which it finds what it has to end.
      env: {},
    });
    closeSync(log);
    process_.unref();
    // The exit handler deals with a guardian that has just died.
    process_.stdin?.on('error', () => undefined);
    process_.on('error', () => undefined);
    process_.once('exit', () => {
      if (!closing) setTimeout(reopen, RESPAWN_MS).unref();
    });
    return process_;
  }

  function reopen(): void {
    if (closing) return;
    child = open();
    for (const message of watched.values()) tell(message);
  }

  function tell(message: GuardianMessage): void {
    child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  return {
    mark,
    watch(pid, signal) {
      const startTime = startTimeOf(pid);
      if (startTime === null) return;
      const message: Watched = { type: 'watch', pid, startTime, signal };
      watched.set(pid, message);
      tell(message);
    },
    forget(pid) {
      watched.delete(pid);
      tell({ type: 'forget', pid });
    },
    pid: () => child.pid,
    async close() {
      closing = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      const exited = once(child, 'exit');
      child.stdin?.end();
      await exited;
    },
  };
}

const guardianFile = fileURLToPath(new URL('./guardian-process.js', import.meta.url));

/** Passes loaders on, so that the guardian also runs from sources, but not the debugger's port, which can be used only once. */
function inheritedFlags(): string[] {
  return process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
}
