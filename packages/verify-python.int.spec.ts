import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasPython, printed, PROGRAM_TIMEOUT_MS, runProgram } from '../test/support/programs.js';
import { opinions } from '../test/support/verifier-vectors.js';

const PACKAGES = import.meta.dirname;
/** The long tests take packages from the registries of the languages. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const python = 'python3';
const inPython = hasPython ? it : it.skip;

let workDir: string;
beforeAll(() => {
  workDir = mkdtempSync(join(tmpdir(), 'waypost-verifiers-'));
});
afterAll(() => {
  rmSync(workDir, { recursive: true, force: true });
});

describe(`the verifier in Python (R-19, R-43)${hasPython ? '' : ': skipped, because this machine has no Python 3.10'}`, () => {
  const folder = join(PACKAGES, 'verify-python');

  inPython('holds for the vectors', async () => {
    expect(await printed(python, ['-B', '-m', 'unittest', 'discover', 'tests'], folder)).toMatch(/\nOK\n$/);
  });

  if (isLong)
    inPython(
      'works from its packed wheel in an empty environment',
      async () => {
        const source = join(workDir, 'verify-python');
        cpSync(folder, source, { recursive: true });
        await printed(python, ['-m', 'venv', 'venv'], workDir);
        const venv = join(workDir, 'venv', 'bin', 'python');
        await printed(venv, ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', workDir, source], workDir);
        const wheel = join(workDir, 'waypost_webhooks-0.1.0-py3-none-any.whl');
        await printed(venv, ['-m', 'pip', 'install', '--quiet', '--no-index', wheel], workDir);
        const test = join(folder, 'tests', 'test_verify.py');
        expect(await printed(venv, ['-B', test, '--installed'], workDir)).toMatch(/\nOK\n$/);
      },
      PROGRAM_TIMEOUT_MS,
    );

  if (isLong)
    inPython(
      'agrees with the public library about the vectors',
      async () => {
        await printed(python, ['-m', 'venv', 'public'], workDir);
        const venv = join(workDir, 'public', 'bin', 'python');
        await printed(venv, ['-m', 'pip', 'install', '--quiet', 'standardwebhooks==1.1.0'], workDir);
        const args = [join(PACKAGES, 'standardwebhooks', 'check.py')];
        const { stdout } = await runProgram(venv, args, { cwd: workDir });
        expect(JSON.parse(stdout)).toEqual(opinions(() => true));
      },
      PROGRAM_TIMEOUT_MS,
    );
});
