import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { differences, generateModules } from './generated-modules.js';
import { publishedDocuments } from './published-documents.js';

interface Target {
  readonly dir: string;
  /** Everything that is in `dir`: what else is there goes. */
  readonly files: ReadonlyMap<string, string>;
}

/** Usage: main.js [--check]; run from the project's root. */
async function main(args: readonly string[]): Promise<number> {
  const targets = await generate(resolve('schemas'));
  const complaints = (await Promise.all(targets.map(({ dir, files }) => differences(files, dir)))).flat();
  if (args.includes('--check')) {
    for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
    if (complaints.length > 0) process.stderr.write('Run "npm run codegen" and commit the result.\n');
    return complaints.length > 0 ? 1 : 0;
  }
  for (const target of targets) await write(target);
  const count = targets.reduce((sum, { files }) => sum + files.size, 0);
  process.stdout.write(`${String(count)} files written, ${String(complaints.length)} changed\n`);
  return 0;
}

async function generate(schemasDir: string): Promise<Target[]> {
  const modulesDir = resolve('libs/contracts/src/generated');
  const documents = await publishedDocuments(schemasDir);
  return [
    { dir: modulesDir, files: await generateModules(schemasDir, modulesDir) },
    ...[...documents].map(([folder, files]) => ({ dir: join(schemasDir, folder), files })),
  ];
}

async function write({ dir, files }: Target): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  for (const [name, text] of files) await writeFile(join(dir, name), text);
}

process.exitCode = await main(process.argv.slice(2));
