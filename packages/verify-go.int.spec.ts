import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasGo, printed, PROGRAM_TIMEOUT_MS, runProgram } from '../test/support/programs.js';
import { opinions, type Vector } from '../test/support/verifier-vectors.js';

const PACKAGES = import.meta.dirname;
/** The long tests take packages from the registries of the languages. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const inGo = hasGo ? it : it.skip;

let workDir: string;
beforeAll(() => {
  workDir = mkdtempSync(join(tmpdir(), 'waypost-verifiers-'));
});
afterAll(() => {
  rmSync(workDir, { recursive: true, force: true });
});

describe(`the verifier in Go (R-19, R-43)${hasGo ? '' : ': skipped, because this machine has no Go'}`, () => {
  const folder = join(PACKAGES, 'verify-go');

  inGo('holds for the vectors', async () => {
    expect(await printed('go', ['test', '-count=1', '.'], folder)).toMatch(/^ok /m);
  });

  inGo('is formatted, its generated file too', async () => {
    const gofmt = (await printed('go', ['fmt', '-n', '.'], folder)).split(' ')[0] ?? '';
    expect(await printed(gofmt, ['-l', '.'], folder)).toBe('');
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
    expect(await printed('go', ['run', '.'], workDir)).toBe('true true');
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
