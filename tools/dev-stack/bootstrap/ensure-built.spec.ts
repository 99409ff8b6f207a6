import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

interface EnsureBuilt {
  readonly listSources: (root: string) => { readonly file: string }[];
  readonly removeBuiltPackages: (root: string) => void;
}

// Plain JavaScript, since it runs before anything is built.
const built = (await import(new URL('./ensure-built.mjs', import.meta.url).href)) as EnsureBuilt;

const settings = ['nest-cli.json', 'tsconfig.build.json', 'tsconfig.json', 'package-lock.json'];
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'waypost-checkout-'));
  for (const folder of ['apps', 'libs', 'packages', 'tools', 'bench']) await mkdir(join(root, folder));
  await write(...settings);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(...files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), '');
  }
}

describe('the build of the product', () => {
  it('depends on sources, and neither on built packages nor on installed ones', async () => {
    const sources = ['apps/console/src/app.tsx', 'packages/client/src/index.ts'];
    await write(
      ...sources,
      'packages/client/dist/index.d.ts',
      'apps/console/node_modules/a/index.d.ts',
      'libs/a.spec.ts',
    );
    expect(built.listSources(root).map(({ file }) => file)).toEqual([...settings, ...sources].sort());
  });

  it('takes away packages that are built, in place of importing them', async () => {
    await write('packages/client/dist/index.js', 'libs/streams/dist/index.js', 'packages/client/src/index.ts');
    built.removeBuiltPackages(root);
    expect(existsSync(join(root, 'packages/client/dist'))).toBe(false);
    expect(existsSync(join(root, 'libs/streams/dist'))).toBe(false);
    expect(existsSync(join(root, 'packages/client/src/index.ts'))).toBe(true);
  });
});
