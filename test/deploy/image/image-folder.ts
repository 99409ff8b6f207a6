import { spawnSync } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { ImageRecipe } from './dockerfile.js';

export interface ImageFolder {
  /** Stands for the root of the image's file system. */
  readonly root: string;
  remove(): Promise<void>;
}

interface Options {
  readonly recipe: ImageRecipe;
  /** The checkout, built. */
  readonly checkout: string;
  /** The Node.js of the image. */
  readonly node: string;
}

/** Where both stages work in the Dockerfile. */
const STAGE = '/waypost/';

/** The files of the last stage, in a folder: those of `build` from the checkout, those of `dependencies` installed again. */
export async function layOutImage({ recipe, checkout, node }: Options): Promise<ImageFolder> {
  const root = await mkdtemp(join(tmpdir(), 'waypost-image-'));
  await chmod(root, 0o755);
  const dependencies = join(root, '.dependencies');
  await mkdir(dependencies);
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await copyFile(join(checkout, file), join(dependencies, file));
  }
  npm(recipe.installOf('dependencies'), dependencies);
  await mkdir(join(root, 'data'));
  await chmod(join(root, 'data'), 0o777);
  for (const { stage, sources, target } of recipe.copies) {
    const from = stage === 'dependencies' ? dependencies : checkout;
    for (const source of sources.filter((path) => path.startsWith(STAGE))) {
      const place = target.endsWith('/') ? join(root, target, basename(source)) : join(root, target);
      await mkdir(dirname(place), { recursive: true });
      await cp(join(from, source.slice(STAGE.length)), place, { recursive: true });
    }
  }
  await rm(dependencies, { recursive: true });
  await mkdir(join(root, 'nodejs/bin'), { recursive: true });
  await copyFile(node, join(root, 'nodejs/bin/node'));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

function npm(args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr}`);
}
