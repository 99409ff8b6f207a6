import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';

export interface SourceFile {
  /** Relative to the project's folder. */
  readonly path: string;
  readonly syntax: ts.SourceFile;
}

/** The TypeScript of production code under some folders, parsed. `root`: the project's folder. */
export async function productionSources(root: string, folders: readonly string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(join(root, '/').length);
      if (!entry.isFile() || !path.endsWith('.ts') || /\.(spec|contract)\.ts$|\/(testing|generated)\//.test(path))
        continue;
      const text = await readFile(join(root, path), 'utf8');
      files.push({ path, syntax: ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true) });
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Calls `visit` for every node below `node`. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  ts.forEachChild(node, (child) => {
    visit(child);
    walk(child, visit);
  });
}
