import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Guardian } from '../../../tools/dev-stack/index.js';
import { describeExit } from '../../../tools/dev-stack/processes/managed-process.js';
import { type ProcessCommand, spawnGuarded } from '../../../tools/dev-stack/processes/spawn-guarded.js';
import { type ProcessUsage, usageOf } from './process-usage.js';

/** A process under measurement: it is started once, and nothing restarts it. */
export interface BenchProcess {
  readonly name: string;
  /** Aborted, with the end of the log, when the process ends without being asked to. */
  readonly failed: AbortSignal;
  usage(): ProcessUsage;
  /** What it has written so far. */
  log(): Promise<string>;
  /** Asks it to end, and kills it after a while. */
  stop(): Promise<void>;
  /** As a power cut would. */
  kill(): Promise<void>;
}

const STOP_GRACE_MS = 35_000;
const TAIL_LINES = 12;

export async function startBenchProcess(
  { guardian, logsDir }: { readonly guardian: Guardian; readonly logsDir: string },
  name: string,
  command: ProcessCommand,
): Promise<BenchProcess> {
  const logFile = join(logsDir, `${name}.log`);
  await rm(logFile, { force: true });
  const { child, exited } = spawnGuarded(command, { guardian, logFile, orphanSignal: 'SIGKILL' });
  const failure = new AbortController();
  let asked = false;
  const log = (): Promise<string> => readFile(logFile, 'utf8').catch(() => '');

  void exited.then(async (exit) => {
    if (asked) return;
    const tail = (await log()).trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
    failure.abort(new Error(`${name} has ended (${describeExit(exit)}). The end of ${logFile}:\n${tail}`));
  });

  async function end(signal: NodeJS.Signals): Promise<void> {
    asked = true;
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    const patience = new AbortController();
    const inTime = await Promise.race([
      exited.then(() => true),
      sleep(STOP_GRACE_MS, false, { signal: patience.signal }).catch(() => false),
    ]);
    patience.abort();
    if (!inTime) child.kill('SIGKILL');
    await exited;
  }

  return {
    name,
    log,
    failed: failure.signal,
    usage: () => usageOf(child.pid ?? 0),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
