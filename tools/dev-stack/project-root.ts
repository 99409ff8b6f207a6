import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json, both from the sources and from the build. */
export function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'nest-cli.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('The project root, the folder with nest-cli.json, is not found.');
    folder = parent;
  }
  return folder;
}

/** A file of the project that the build does not copy. */
export function projectFile(path: string): string {
  return join(projectRoot(), path);
}
