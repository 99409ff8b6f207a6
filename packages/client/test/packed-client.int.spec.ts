import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deliveryRecord, historyOf } from '../../../apps/public-api/src/testing/delivery-records.js';
import { startTestApi, type TestApi } from '../../../apps/public-api/src/testing/test-api.js';
import { findChromium, launchChromium } from '../../../test/support/browser.js';
import { packCopy, type PackedPackage } from '../../../test/support/packed-package.js';

const PACKAGE = join(import.meta.dirname, '..');
const ROOT = join(PACKAGE, '../..');
const run = promisify(execFile);

const settings = {
  compilerOptions: {
    target: 'ES2022',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    types: [],
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    skipLibCheck: false,
    outDir: 'out',
    rootDir: '.',
  },
};

/** As files; `process` is that of Node, which brings its types. */
function readmeSamples(): Record<string, string> {
  const process = 'declare const process: { readonly env: Readonly<Record<string, string | undefined>> };\n';
  const samples = readFileSync(join(PACKAGE, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms);
  return Object.fromEntries([...samples].map(([, text = ''], index) => [`readme-${String(index)}.ts`, process + text]));
}

/** A browser and a bundler take a few seconds. */
const chromium = process.env['WAYPOST_LONG_TESTS'] === undefined ? undefined : await findChromium();
const inBrowser = chromium ? it : it.skip;
const WHY_NOT = chromium === undefined ? ': skipped, because only npm run test:long does it' : '';
const NO_BROWSER =
  chromium === null ? ': skipped, because there is no Chromium: npm run install-chromium brings one' : '';

let project: string;
let packed: PackedPackage;
let api: TestApi;
const records = [1, 2, 3, 4, 5].map((minutes) => deliveryRecord({ firstAttemptAt: Date.now() - minutes * 60_000 }));

/** Everything that the package brings, relative to it. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$|LICENSE$/.test(name));
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'waypost-consumer-'));
  api = await startTestApi({ history: historyOf(records) });
  packed = await packCopy(PACKAGE, project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', packed.tarball], { cwd: project });
  cpSync(join(PACKAGE, 'test/consumer/consumer.ts'), join(project, 'consumer.ts'));
  const samples = readmeSamples();
  for (const [name, text] of Object.entries(samples)) writeFileSync(join(project, name), text);
  const files = ['consumer.ts', ...Object.keys(samples)];
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ ...settings, files }));
}, 120_000);

afterAll(async () => {
  await api.close();
  rmSync(project, { recursive: true });
});

describe('the packed client in an empty project (R-43)', () => {
  it('has left nothing built beside its sources, where the product would import it in place of them', () => {
    expect(existsSync(join(packed.source, 'dist'))).toBe(false);
  });

  it('brings its code, types, README and license, and no dependency', () => {
    const files = filesIn(join(project, 'node_modules/@waypost/client'));
    const expected = ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'package.json'];
    expect(files).toEqual(expect.arrayContaining(expected));
    expect(files.filter((name) => name.includes('spec') || name.startsWith('src'))).toEqual([]);
    expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@waypost']);
  });

  it('is typed: a consumer and the samples of the README compile, and planted mistakes do not', async () => {
    const compiled = await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc')], {
      cwd: project,
    }).catch((error: unknown) => error as { stdout: string });
    expect(compiled.stdout).toBe('');
  });

  it('verifies a delivery and reads from the running API, page by page', async () => {
    const { stdout } = await run(process.execPath, ['out/consumer.js'], {
      cwd: project,
      env: { PATH: process.env['PATH'], ...given() },
    });
    expect(JSON.parse(stdout)).toEqual(expected());
  });

  inBrowser(`does the same in a bundle for browsers${WHY_NOT}${NO_BROWSER}`, async () => {
    const bundling = {
      define: { 'process.env': JSON.stringify(given()), 'process.argv': '[]' },
      build: { outDir: 'bundle', lib: { entry: 'consumer.ts', formats: ['es'], fileName: 'consumer' } },
    };
    // In a process of its own: the bundler does not take objects of a test's context.
    writeFileSync(join(project, 'vite.config.mjs'), `export default ${JSON.stringify(bundling)}`);
    await run(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build'], { cwd: project });
    const bundle = readFileSync(join(project, 'bundle/consumer.js'), 'utf8');
    const browser = await launchChromium(chromium ?? '');
    try {
      const page = await browser.newPage();
      // A page of the origin of the API, without the policy that the API has for its own.
      await page.route(`${api.url}/consumer`, (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
      );
      await page.goto(`${api.url}/consumer`);
      // The refusal is in the console too, as a warning of the browser.
      const printed = page.waitForEvent('console', (message) => message.type() === 'log');
      await page.addScriptTag({ type: 'module', content: bundle });
      expect(JSON.parse((await printed).text())).toEqual(expected());
    } finally {
      await browser.close();
    }
  });
});

/** What the consumer reads from its environment: a delivery, and where the API is. */
function given() {
  const { vectors } = JSON.parse(readFileSync(join(PACKAGE, '../vectors.json'), 'utf8')) as {
    vectors: { name: string; body: string; headers: object; secrets: string[]; nowSeconds: number }[];
  };
  const vector = vectors.find(({ name }) => name === 'valid: a body beyond ASCII');
  const delivery = { ...vector, secret: vector?.secrets[0], nowMs: (vector?.nowSeconds ?? 0) * 1_000 };
  return { API_URL: api.url, API_KEY: api.addKey('acme'), DELIVERY: JSON.stringify(delivery) };
}

function expected() {
  return {
    place: 'Depot Zürich',
    deliveries: [...records].reverse().map(({ eventId }) => eventId),
    refusal: { status: 400, code: 'invalid_parameter', parameter: 'limit', attempts: 1 },
  };
}
