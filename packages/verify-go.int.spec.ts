import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasGo, printed, PROGRAM_TIMEOUT_MS, runProgram } from '../test/support/programs.js';
import { opinions, type Vector } from '../test/support/verifier-vectors.js';

const PACKAGES = import.meta.dirname;
/** The long tests take packages from the registries of the languages. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const inGo = hasGo ? it : it.skip;
/** Go compiles its own library first, on a machine that has compiled nothing yet. */
const FIRST_COMPILATION_MS = 300_000;
const MODULE = 'waypost.example/webhooks';
const VERSION = 'v0.1.0';
/** Arguments: the archive, the folder in it, the files. */
const PACKER = `package main

import ("archive/zip"; "os"; "path/filepath")

func main() {
	archive, err := os.Create(os.Args[1])
	must(err)
	writer := zip.NewWriter(archive)
	for _, path := range os.Args[3:] {
		text, err := os.ReadFile(path)
		must(err)
		file, err := writer.Create(os.Args[2] + filepath.Base(path))
		must(err)
		_, err = file.Write(text)
		must(err)
	}
	must(writer.Close())
	must(archive.Close())
}

func must(err error) {
	if err != nil { panic(err) }
}
`;

let workDir: string;
beforeAll(() => {
  workDir = mkdtempSync(join(tmpdir(), 'waypost-verifiers-'));
});
afterAll(() => {
  rmSync(workDir, { recursive: true, force: true });
});

/** The folder of a proxy that has the module and no other: what https://proxy.golang.org makes of a tag. */
async function packed(folder: string): Promise<string> {
  const proxy = join(workDir, 'proxy');
  const versions = join(proxy, MODULE, '@v');
  mkdirSync(versions, { recursive: true });
  writeFileSync(join(versions, `${VERSION}.info`), JSON.stringify({ Version: VERSION, Time: '2026-01-01T00:00:00Z' }));
  copyFileSync(join(folder, 'go.mod'), join(versions, `${VERSION}.mod`));
  const packer = join(workDir, 'pack.go');
  writeFileSync(packer, PACKER);
  const files = readdirSync(folder).map((name) => join(folder, name));
  await printed('go', ['run', packer, join(versions, `${VERSION}.zip`), `${MODULE}@${VERSION}/`, ...files], workDir);
  return proxy;
}

describe(`the verifier in Go (R-19, R-43)${hasGo ? '' : ': skipped, because this machine has no Go'}`, () => {
  const folder = join(PACKAGES, 'verify-go');

  inGo(
    'holds for the vectors',
    async () => {
      expect(await printed('go', ['test', '-count=1', '.'], folder)).toMatch(/^ok /m);
    },
    FIRST_COMPILATION_MS,
  );

  inGo('is formatted, its generated file too', async () => {
    const gofmt = (await printed('go', ['fmt', '-n', '.'], folder)).split(' ')[0] ?? '';
    expect(await printed(gofmt, ['-l', '.'], folder)).toBe('');
  });

  inGo(
    'is used by an empty module, as a proxy of modules would give it',
    async () => {
      const consumer = join(workDir, 'consumer');
      mkdirSync(consumer);
      writeFileSync(join(consumer, 'go.mod'), `module consumer\n\ngo 1.21\n\nrequire ${MODULE} ${VERSION}\n`);
      writeFileSync(
        join(consumer, 'main.go'),
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
      const env = {
        GOPROXY: `file://${await packed(folder)}`,
        GONOSUMDB: MODULE,
        GOFLAGS: '-mod=mod -modcacherw',
        GOMODCACHE: join(workDir, 'modules'),
      };
      const { stdout } = await runProgram('go', ['run', '.'], { cwd: consumer, env });
      expect(stdout).toBe('true true');
    },
    FIRST_COMPILATION_MS,
  );

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
