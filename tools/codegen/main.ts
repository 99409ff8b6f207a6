import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { clientModules, eventModelFiles } from './client/client-modules.js';
import { generatedDocs } from './generated-docs.js';
import { differences, type GeneratedFolder, generateModules } from './generated-modules.js';
import { publishedDocuments } from './published-documents.js';

/** Usage: main.js [--check]; run from the project's root. */
async function main(args: readonly string[]): Promise<number> {
  const folders = await generatedFolders(resolve('schemas'));
  const files = new Map([...(await generatedDocs(resolve('.'))), ...eventModelFiles(resolve('packages'))]);
  const stale = [
    ...(await Promise.all(folders.map(({ dir, files }) => differences(files, dir)))).flat(),
    ...(await staleFiles(files)),
  ];
  if (args.includes('--check')) {
    for (const complaint of stale) process.stderr.write(`${complaint}\n`);
    if (stale.length > 0) process.stderr.write('Run "npm run codegen" and commit the result.\n');
    return stale.length > 0 ? 1 : 0;
  }
  for (const folder of folders) await replace(folder);
  for (const [path, text] of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const count = folders.reduce((sum, { files }) => sum + files.size, files.size);
  process.stdout.write(`${String(count)} files written, ${String(stale.length)} changed\n`);
  return 0;
}

async function generatedFolders(schemasDir: string): Promise<GeneratedFolder[]> {
  const dirs = { records: resolve('libs/domain/src/records'), schemas: resolve('libs/contracts/src/generated') };
  const { records, schemas } = await generateModules(schemasDir, dirs);
  const documents = await publishedDocuments(schemasDir);
  const clients = await clientModules(resolve('packages'));
  return [
    { dir: dirs.records, files: records },
    { dir: dirs.schemas, files: schemas },
    ...clients,
    ...[...documents].map(([folder, files]) => ({ dir: join(schemasDir, folder), files })),
  ];
}

async function staleFiles(files: ReadonlyMap<string, string>): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, text] of files) {
    if ((await readFile(path, 'utf8').catch(() => null)) !== text) stale.push(`${path} is not up to date`);
  }
  return stale;
}

async function replace({ dir, files }: GeneratedFolder): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const name of await readdir(dir)) if (!files.has(name)) await rm(join(dir, name), { recursive: true });
  for (const [name, text] of files) await writeFile(join(dir, name), text);
}

process.exitCode = await main(process.argv.slice(2));
