import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

/** Installing from the registry of a language is part of it. */
export const PROGRAM_TIMEOUT_MS = 240_000;

export function isInstalled(file: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Of this machine; what packages/ and the generators of clients need at least. */
export const hasPython = isInstalled(
  'python3',
  '-c',
  'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))',
);
export const hasGo = isInstalled('go', 'version');

export interface ProgramOptions {
  readonly cwd: string;
  /** A folder whose programs come before those of the machine. */
  readonly bin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end. @throws when it fails, with what it printed */
export function runProgram(
  file: string,
  args: readonly string[],
  { cwd, bin, env = {} }: ProgramOptions,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const PATH = [...(bin === undefined ? [] : [bin]), process.env['PATH'] ?? ''].join(':');
  return promisify(execFile)(file, args, { cwd, env: { ...process.env, PATH, ...env }, timeout: PROGRAM_TIMEOUT_MS });
}

/** All that it prints: the test runner of Python prints to standard error. */
export async function printed(file: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr } = await runProgram(file, args, { cwd });
  return stdout + stderr;
}
