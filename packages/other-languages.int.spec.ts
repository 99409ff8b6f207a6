import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openApiDocument } from '../tools/codegen/openapi.js';

const PACKAGES = import.meta.dirname;
/** The long tests take packages from the registries of the languages. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const INSTALL_TIMEOUT_MS = 240_000;

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

function isInstalled(file: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** `bin`: a folder whose programs come before those of the machine. */
async function run(file: string, args: readonly string[], cwd: string, bin = PACKAGES): Promise<string> {
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const { stdout, stderr } = await promisify(execFile)(file, args, { cwd, env, timeout: INSTALL_TIMEOUT_MS });
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
const hasPython = isInstalled(python, '-c', 'import sys; sys.exit(sys.version_info < (3, 10))');
const hasGo = isInstalled('go', 'version');
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
      INSTALL_TIMEOUT_MS,
    );

  if (isLong)
    inPython(
      'agrees with the public library about the vectors',
      async () => {
        await run(python, ['-m', 'venv', 'public'], workDir);
        const venv = join(workDir, 'public', 'bin', 'python');
        await run(venv, ['-m', 'pip', 'install', '--quiet', 'standardwebhooks==1.1.0'], workDir);
        const printed = await run(venv, [join(PACKAGES, 'standardwebhooks', 'check.py')], workDir);
        expect(JSON.parse(printed)).toEqual(opinions(() => true));
      },
      INSTALL_TIMEOUT_MS,
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
        const printed = await run('go', ['run', '.'], join(PACKAGES, 'standardwebhooks'));
        const isTimed = ({ expected }: Vector) => expected.reason?.startsWith('timestamp_too_') === true;
        expect(JSON.parse(printed)).toEqual(opinions((vector) => !isTimed(vector)));
      },
      INSTALL_TIMEOUT_MS,
    );
});

/** Not ours, but what integrators in these languages use when they want the whole API. */
if (isLong) {
  describe('clients that public generators make of the OpenAPI document (R-43)', () => {
    let file: string;
    beforeAll(() => {
      file = join(workDir, 'openapi.json');
      writeFileSync(file, JSON.stringify(openApiDocument()));
    });

    inPython(
      'compile in Python',
      async () => {
        await run(python, ['-m', 'venv', 'generator'], workDir);
        const bin = join(workDir, 'generator', 'bin');
        await run(join(bin, 'pip'), ['install', '--quiet', 'openapi-python-client==0.29.1'], workDir);
        const args = ['generate', '--path', file, '--meta', 'none', '--output-path', 'generated', '--fail-on-warning'];
        await run(join(bin, 'openapi-python-client'), args, workDir, bin);
        const script = 'import generated.client, generated.models as models; print(models.PositionEvent)';
        expect(await run(join(bin, 'python'), ['-c', script], workDir)).toContain('generated.models.');
      },
      INSTALL_TIMEOUT_MS,
    );

    inGo(
      'compile in Go',
      async () => {
        const folder = join(workDir, 'oapi');
        mkdirSync(folder);
        writeFileSync(join(folder, 'go.mod'), 'module api\n\ngo 1.24\n');
        writeFileSync(
          join(folder, 'settings.yaml'),
          'package: api\noutput: api.go\ngenerate: { models: true, client: true }\noutput-options: { skip-prune: true }\n',
        );
        const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
        await run('go', ['run', generator, '-config', 'settings.yaml', file], folder);
        await run('go', ['get', 'github.com/oapi-codegen/runtime@v1.8.0'], folder);
        await run('go', ['mod', 'tidy'], folder);
        expect(await run('go', ['vet', '.'], folder)).toBe('');
      },
      INSTALL_TIMEOUT_MS,
    );
  });
}
