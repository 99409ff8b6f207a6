import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasGo, hasPython, PROGRAM_TIMEOUT_MS, runProgram } from '../test/support/programs.js';

const PACKAGES = import.meta.dirname;
/** The long tests take packages from the registries of the languages. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;

interface Vector {
  readonly name: string;
  readonly standardwebhooks?: 'accepts' | 'refuses';
  readonly expected: { readonly reason?: string };
}

let workDir: string;
beforeAll(() => {
  workDir = mkdtempSync(join(tmpdir(), 'waypost-verifiers-'));
});
afterAll(() => {
  rmSync(workDir, { recursive: true, force: true });
});

/** All that it prints: the test runner of Python prints to standard error. */
async function run(file: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr } = await runProgram(file, args, { cwd });
  return stdout + stderr;
}

/** What the public libraries are expected to say, of the vectors that `isKnown` accepts. */
function opinions(isKnown: (vector: Vector) => boolean): Record<string, string> {
  const { vectors } = JSON.parse(readFileSync(join(PACKAGES, 'vectors.json'), 'utf8')) as {
    vectors: readonly Vector[];
  };
  return Object.fromEntries(
    vectors
      .filter(isKnown)
      .flatMap((vector) => (vector.standardwebhooks === undefined ? [] : [[vector.name, vector.standardwebhooks]])),
  );
}

const python = 'python3';
const inPython = hasPython ? it : it.skip;
const inGo = hasGo ? it : it.skip;

describe(`the verifier in Python (R-19, R-43)${hasPython ? '' : ': skipped, because this machine has no Python 3.10'}`, () => {
  const folder = join(PACKAGES, 'verify-python');

  inPython('holds for the vectors', async () => {
    expect(await run(python, ['-B', '-m', 'unittest', 'discover', 'tests'], folder)).toMatch(/\nOK\n$/);
  });

  if (isLong)
    inPython(
      'works from its packed wheel in an empty environment',
      async () => {
        const source = join(workDir, 'verify-python');
        cpSync(folder, source, { recursive: true });
        await run(python, ['-m', 'venv', 'venv'], workDir);
        const venv = join(workDir, 'venv', 'bin', 'python');
        await run(venv, ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', workDir, source], workDir);
        const wheel = join(workDir, 'waypost_webhooks-0.1.0-py3-none-any.whl');
        await run(venv, ['-m', 'pip', 'install', '--quiet', '--no-index', wheel], workDir);
        const test = join(folder, 'tests', 'test_verify.py');
        expect(await run(venv, ['-B', test, '--installed'], workDir)).toMatch(/\nOK\n$/);
      },
      PROGRAM_TIMEOUT_MS,
    );

  if (isLong)
    inPython(
      'agrees with the public library about the vectors',
      async () => {
        await run(python, ['-m', 'venv', 'public'], workDir);
        const venv = join(workDir, 'public', 'bin', 'python');
        await run(venv, ['-m', 'pip', 'install', '--quiet', 'standardwebhooks==1.1.0'], workDir);
        const args = [join(PACKAGES, 'standardwebhooks', 'check.py')];
        const { stdout } = await runProgram(venv, args, { cwd: workDir });
        expect(JSON.parse(stdout)).toEqual(opinions(() => true));
      },
      PROGRAM_TIMEOUT_MS,
    );
});

describe(`the verifier in Go (R-19, R-43)${hasGo ? '' : ': skipped, because this machine has no Go'}`, () => {
  const folder = join(PACKAGES, 'verify-go');

  inGo('holds for the vectors', async () => {
    expect(await run('go', ['test', '-count=1', '.'], folder)).toMatch(/^ok /m);
  });

  inGo('is formatted, its generated file too', async () => {
    const gofmt = (await run('go', ['fmt', '-n', '.'], folder)).split(' ')[0] ?? '';
    expect(await run(gofmt, ['-l', '.'], folder)).toBe('');
  });

  inGo('is used by an empty module', async () => {
    writeFileSync(
      join(workDir, 'go.mod'),
      `module consumer\n\ngo 1.21\n\nrequire waypost.example/webhooks v0.0.0\n\nreplace waypost.example/webhooks => ${folder}\n`,
    );
    writeFileSync(
      join(workDir, 'main.go'),
      [
        'package main',
        'import ("errors"; "fmt"; "net/http"; "waypost.example/webhooks")',
        'func main() {',
        '  verifier, _ := webhooks.NewVerifier("whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")',
        '  _, err := verifier.Verify([]byte("{}"), http.Header{})',
        '  var refused *webhooks.Refused',
        '  fmt.Print(errors.As(err, &refused), refused.Reason == webhooks.MissingHeaders)',
        '}',
      ].join('\n'),
    );
    expect(await run('go', ['run', '.'], workDir)).toBe('true true');
  });

  if (isLong)
    inGo(
      'agrees with the public library about the vectors',
      async () => {
        // Standard error has what go downloads, the first time.
        const { stdout } = await runProgram('go', ['run', '.'], { cwd: join(PACKAGES, 'standardwebhooks') });
        const isTimed = ({ expected }: Vector) => expected.reason?.startsWith('timestamp_too_') === true;
        expect(JSON.parse(stdout)).toEqual(opinions((vector) => !isTimed(vector)));
      },
      PROGRAM_TIMEOUT_MS,
    );
});
