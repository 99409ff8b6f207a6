import { readFile } from 'node:fs/promises';
import { StackError } from '../stack-error.js';
import type { Guardian } from './guardian.js';
import { describeExit } from './managed-process.js';
import { spawnGuarded, type ProcessCommand } from './spawn-guarded.js';

interface RunOnceContext {
  /** What it does, as the beginning of a sentence. */
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
