import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deliveryRecord, historyOf } from '../apps/public-api/src/testing/delivery-records.js';
import { startTestApi, type TestApi } from '../apps/public-api/src/testing/test-api.js';
import { hasGo, hasPython, PROGRAM_TIMEOUT_MS, runProgram } from '../test/support/programs.js';

const CONSUMERS = join(import.meta.dirname, 'generated-clients');
/** They come from the registries of the languages: only the long tests run them. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const inPython = hasPython && isLong ? it : it.skip;
const inGo = hasGo && isLong ? it : it.skip;

const GENERATOR_FOR_PYTHON = 'openapi-python-client==0.29.1';
const MYPY = 'mypy==1.18.2';
const GENERATOR_FOR_GO = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const RUNTIME_FOR_GO = 'github.com/oapi-codegen/runtime@v1.8.0';

/** The second is of a type that the document does not know: the service may be newer than a client. */
const records = ['position', 'charging_started'].map((eventType, index) =>
  deliveryRecord({ eventType, firstAttemptAt: Date.now() - (9 - index) * 60_000 }),
);
const read = {
  deliveries: [
    ['position', 'delivered', 1],
    ['charging_started', 'delivered', 1],
  ],
  refusal: 'invalid_parameter',
  requestId: 36,
};

function whyNot(name: string, isPresent: boolean): string {
  if (isPresent) return isLong ? '' : ': skipped, because only npm run test:long installs the generator';
  return `: skipped, because this machine has no ${name}`;
}

/** Not ours, but what integrators in these languages use when they want the whole API. */
describe('clients that public generators make of the OpenAPI document (R-43)', () => {
  let workDir: string;
  let document: string;
  let api: TestApi;
  let env: Readonly<Record<string, string>>;
  beforeAll(async () => {
    api = await startTestApi({ history: historyOf(records) });
    workDir = mkdtempSync(join(tmpdir(), 'waypost-generated-'));
    document = join(workDir, 'openapi.json');
    writeFileSync(document, JSON.stringify((await api.request('/public/openapi.json')).body));
    env = { API_URL: api.url, API_KEY: api.addKey('acme') };
  });
  afterAll(async () => {
    await api.close();
    rmSync(workDir, { recursive: true, force: true });
  });

  inPython(
    `compile in Python and read deliveries from the running API${whyNot('Python 3.10', hasPython)}`,
    async () => {
      const bin = join(workDir, 'venv', 'bin');
      const inVenv = (program: string, ...args: readonly string[]) =>
        runProgram(join(bin, program), args, { cwd: workDir, bin, env });
      await runProgram('python3', ['-m', 'venv', 'venv'], { cwd: workDir });
      await inVenv('pip', 'install', '--quiet', GENERATOR_FOR_PYTHON, MYPY);
      const output = ['--meta', 'none', '--output-path', 'generated', '--fail-on-warning'];
      await inVenv('openapi-python-client', 'generate', '--path', document, ...output);
      await inVenv('python', '-c', IMPORT_ALL);
      copyFileSync(join(CONSUMERS, 'list_events.py'), join(workDir, 'list_events.py'));
      // Only what uses the client: the generator's own code does not hold for mypy.
      await inVenv('mypy', '--strict', '--follow-imports=silent', 'list_events.py');
      expect(JSON.parse((await inVenv('python', 'list_events.py')).stdout)).toEqual(read);
    },
    PROGRAM_TIMEOUT_MS,
  );

  inGo(
    `compile in Go and read deliveries from the running API${whyNot('Go', hasGo)}`,
    async () => {
      const cwd = join(workDir, 'go');
      mkdirSync(join(cwd, 'api'), { recursive: true });
      const go = (...args: readonly string[]) => runProgram('go', args, { cwd, env });
      writeFileSync(join(cwd, 'go.mod'), 'module generated\n\ngo 1.24\n');
      writeFileSync(
        join(cwd, 'settings.yaml'),
        'package: api\noutput: api/api.go\ngenerate: { models: true, client: true }\noutput-options: { skip-prune: true }\n',
      );
      await go('run', GENERATOR_FOR_GO, '-config', 'settings.yaml', document);
      copyFileSync(join(CONSUMERS, 'main.go'), join(cwd, 'main.go'));
      await go('get', RUNTIME_FOR_GO);
      await go('mod', 'tidy');
      await go('vet', './...');
      expect(JSON.parse((await go('run', '.')).stdout)).toEqual(read);
    },
    PROGRAM_TIMEOUT_MS,
  );
});

/** Every module: a mistake in one that nothing imports would go unseen. */
const IMPORT_ALL = [
  'import importlib, pkgutil, generated',
  'modules = [found.name for found in pkgutil.walk_packages(generated.__path__, "generated.")]',
  'assert len(modules) > 100',
  'for name in modules: importlib.import_module(name)',
].join('\n');
