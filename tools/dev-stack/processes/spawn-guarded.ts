import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import type { Guardian } from './guardian.js';
import { adjustNiceness } from './niceness.js';

export interface ProcessCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Another user to run as; only root may ask for it. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** An IPC channel, whose end tells a Node process that this one is gone. */
  readonly channel?: boolean;
  /** Added to the nice level of this process, as far as it may. */
  readonly niceness?: number | undefined;
  /** Receives standard output; otherwise it goes to the log file, as standard error always does. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

interface SpawnContext {
  readonly guardian: Guardian;
  readonly logFile: string;
  readonly orphanSignal: NodeJS.Signals;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The process could not be started at all. */
  readonly error?: Error;
}

export interface GuardedChild {
  readonly child: ChildProcess;
  readonly exited: Promise<ProcessExit>;
}

/**
 * Starts a process in its own process group, so that Ctrl-C in a terminal does not stop a broker before its clients,
 * and tells the guardian. If the kernel can, it also ends the process with this one: if someone kills every Node
 * process at once, the guardian included, Java still goes.
 */
export function spawnGuarded(command: ProcessCommand, { guardian, logFile, orphanSignal }: SpawnContext): GuardedChild {
  const log = openSync(logFile, 'a');
  const [name = '', value = ''] = guardian.mark.split('=');
  const prefix = orphanPrefix(orphanSignal);
  const [file = '', ...args] = [...prefix, command.file, ...command.args];
  const child = spawn(file, args, {
    detached: true,
    stdio: [
      'ignore',
      command.onOutput === undefined ? log : 'pipe',
      log,
      ...(command.channel === true ? (['ipc'] as const) : []),
    ],
    env: { ...command.env, [name]: value },
    ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
    ...command.user,
  });
  closeSync(log);
  if (child.pid !== undefined && command.niceness !== undefined) adjustNiceness(child.pid, command.niceness);
  child.stdout?.setEncoding('utf8').on('data', command.onOutput ?? (() => undefined));
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => {
      if (child.pid !== undefined) guardian.forget(child.pid);
      resolve({ code, signal });
    });
  });
  if (child.pid !== undefined) guardian.watch(child.pid, orphanSignal);
  return { child, exited };
}

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];

function orphanPrefix(signal: NodeJS.Signals): string[] {
  if (process.platform !== 'linux') return [];
  const setpriv = SETPRIV.find((file) => existsSync(file));
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', signal.replace(/^SIG/, ''), '--'];
}
