import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError } from '../stack-error.js';
import type { StackReporter } from '../stack-reporter.js';
import type { Guardian } from './guardian.js';
import { signalGroup } from './process-identity.js';
import { type GuardedChild, type ProcessCommand, type ProcessExit, spawnGuarded } from './spawn-guarded.js';
import { waitUntil } from './wait-until.js';

export interface ManagedProcessOptions {
  readonly name: string;
  readonly logFile: string;
  /** Called before each start. */
  readonly command: () => ProcessCommand | Promise<ProcessCommand>;
  /** Resolves when the process does its work; rejects while it does not yet. */
  readonly probe: () => Promise<void>;
  readonly readyTimeoutMs?: number;
  readonly stopSignal?: NodeJS.Signals;
  /** How long it may take to stop before it is killed. */
  readonly stopGraceMs: number;
  readonly orphanSignal?: NodeJS.Signals;
  readonly guardian: Guardian;
  readonly reporter: StackReporter;
  /** Called when another process has replaced the last one. */
  readonly onReplaced?: () => void;
  readonly now?: () => number;
}

/** A process that is restarted whenever it ends, until it is stopped. */
export interface ManagedProcess {
  readonly name: string;
  /** Resolves when the probe does. @throws StackError `part_failed` when the process ends early again and again. */
  start(): Promise<void>;
  /**
   * The newest process id; undefined before the first start. Between a death and the next start it is the id of the
   * process that died.
   */
  readonly pid: () => number | undefined;
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 90_000;
/** Tries of the first start: resources of a killed predecessor may not be free at once. */
const FIRST_STARTS = 3;

export function createManagedProcess(options: ManagedProcessOptions): ManagedProcess {
  const { name, logFile, guardian, reporter, now = () => performance.now() } = options;
  const stopping = new AbortController();
  let current: GuardedChild | undefined;
  let lastPid: number | undefined;
  let keeper: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  const isStopping = (): boolean => stopping.signal.aborted;

  async function launch(): Promise<GuardedChild> {
    const command = await options.command();
    stopping.signal.throwIfAborted();
    current = spawnGuarded(command, { guardian, logFile, orphanSignal: options.orphanSignal ?? 'SIGKILL' });
    lastPid = current.child.pid ?? lastPid;
    options.onReplaced?.();
    return current;
  }

  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const exit = await untilReady(await launch(), options, stopping.signal);
      if (exit === null) break;
      if (attempt === FIRST_STARTS) {
        throw await failure(options, `ends before it is ready (${describeExit(exit)})`, exit.error);
      }
      await sleep(restartDelayMs(attempt), undefined, { signal: stopping.signal });
    }
    keeper = keepAlive();
  }

  async function keepAlive(): Promise<void> {
    let earlyDeaths = 0;
    let startedAt = now();
    while (current !== undefined) {
      const exit = await current.exited;
      if (isStopping()) return;
      earlyDeaths = earlyDeathsAfter(now() - startedAt, earlyDeaths);
      const delayMs = restartDelayMs(earlyDeaths);
      reporter.note(`${name} ended (${describeExit(exit)}); it is started again in ${String(delayMs)} ms`);
      try {
        await sleep(delayMs, undefined, { signal: stopping.signal });
        await launch();
      } catch (error) {
        if (isStopping()) return;
        reporter.note(`${name} cannot be started again: ${error instanceof Error ? error.message : String(error)}`);
      }
      startedAt = now();
    }
  }

  function stop(): Promise<void> {
    return (stopped ??= stopForGood());
  }

  async function stopForGood(): Promise<void> {
    stopping.abort(new Error(`${name} is being stopped`));
    if (current !== undefined) await endChild(current, options);
    await keeper;
    // The stop may have come during a start.
    if (current !== undefined) await endChild(current, options);
  }

  return { name, start, pid: () => lastPid, stop };
}

/** null: ready. Otherwise how the process ended before it was. */
async function untilReady(
  launched: GuardedChild,
  options: ManagedProcessOptions,
  stopping: AbortSignal,
): Promise<ProcessExit | null> {
  const timeoutMs = options.readyTimeoutMs ?? READY_TIMEOUT_MS;
  const ended = new AbortController();
  void launched.exited.then(() => ended.abort());
  try {
    await waitUntil(options.probe, { timeoutMs, signal: AbortSignal.any([ended.signal, stopping]) });
    return null;
  } catch (error) {
    stopping.throwIfAborted();
    if (ended.signal.aborted) return launched.exited;
    throw await failure(options, `is not ready after ${String(timeoutMs / 1000)} s`, error);
  }
}

/** Asks the process to stop, and kills it with its children if it does not stop in time. */
async function endChild({ child, exited }: GuardedChild, options: ManagedProcessOptions): Promise<void> {
  if (child.pid === undefined) return;
  if (child.exitCode === null && child.signalCode === null) child.kill(options.stopSignal ?? 'SIGTERM');
  const patience = new AbortController();
  const inTime = await Promise.race([
    exited.then(() => true),
    sleep(options.stopGraceMs, false, { signal: patience.signal }).catch(() => false),
  ]);
  patience.abort();
  if (inTime) return;
  options.reporter.note(`${options.name} does not stop; it is killed`);
  signalGroup(child.pid, 'SIGKILL');
  await exited;
}

async function failure({ name, logFile }: ManagedProcessOptions, what: string, cause: unknown): Promise<StackError> {
  const tail = await lastLines(logFile);
  return new StackError('part_failed', `${name} ${what}. The end of ${logFile}:\n${tail}`, { cause });
}

export function describeExit({ code, signal, error }: ProcessExit): string {
  return error?.message ?? signal ?? `exit code ${String(code)}`;
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
}

const FIRST_MS = 100;
const LONGEST_MS = 5_000;
/** A process that lived this long counts as healthy. */
const SOUND_LIFE_MS = 30_000;

/** How many deaths in a row came too early, including the last one after `livedMs`. */
export function earlyDeathsAfter(livedMs: number, before: number): number {
  return livedMs >= SOUND_LIFE_MS ? 1 : before + 1;
}

/** How long to wait before the process is started again: 100 ms at first, doubling to 5 s. */
export function restartDelayMs(earlyDeaths: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(earlyDeaths - 1, 20));
}

interface RunOnceContext {
  /** What the command does, as the beginning of a sentence. */
  readonly name: string;
  readonly logFile: string;
  readonly guardian: Guardian;
}

/** Runs a program to its end. @throws StackError `part_failed` with the end of its log. */
export async function runOnce(command: ProcessCommand, { name, logFile, guardian }: RunOnceContext): Promise<void> {
  const { exited } = spawnGuarded(command, { guardian, logFile, orphanSignal: 'SIGKILL' });
  const exit = await exited;
  if (exit.code === 0) return;
  const log = await readFile(logFile, 'utf8').catch(() => '');
  const tail = log.trimEnd().split('\n').slice(-5).join('\n');
  throw new StackError('part_failed', `${name} failed (${describeExit(exit)}). The end of ${logFile}:\n${tail}`);
}
