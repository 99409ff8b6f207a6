import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { productEnvironment } from '../../support/waypost-config.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Runs a fault suite and resolves with its verdict, good or bad. In a process of its own: what it starts must not live
 * under Jest's NODE_ENV, and goes when it goes.
 */
export async function faultSuiteVerdict<Verdict>(program: string, flags: readonly string[]): Promise<Verdict> {
  const args = ['--import', './test/support/typescript-loader.mjs', program, ...flags];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env: productEnvironment() });
    return JSON.parse(stdout) as Verdict;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    if (!stdout.startsWith('{')) throw new Error(stderr, { cause: error });
    return JSON.parse(stdout) as Verdict;
  }
}
