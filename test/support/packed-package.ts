import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { projectRoot } from '../../tools/dev-stack/project-root.js';
import { runProgram } from './programs.js';

export interface PackedPackage {
  readonly tarball: string;
  /** The folder that was packed, as packing has left it. */
  readonly source: string;
}

/**
 * Packs a package of this repository from a copy. In place, a build of the product that runs meanwhile would import the
 * package instead of its sources.
 */
export async function packCopy(folder: string, workDir: string): Promise<PackedPackage> {
  const copy = mkdtempSync(join(workDir, 'repository-'));
  const source = join(copy, relative(projectRoot(), folder));
  cpSync(folder, source, { recursive: true, filter: (file) => !['dist', 'node_modules'].includes(basename(file)) });
  // What compiling takes from the root of the repository.
  cpSync(join(projectRoot(), 'tsconfig.json'), join(copy, 'tsconfig.json'));
  symlinkSync(join(projectRoot(), 'node_modules'), join(copy, 'node_modules'));
  const { stdout } = await runProgram('npm', ['pack', '--silent', '--pack-destination', workDir], { cwd: source });
  return { tarball: join(workDir, stdout.trim().split('\n').at(-1) ?? ''), source };
}
