import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { differences, generateModules } from './generated-modules.js';

/** Usage: main.js [--check]; run from the project's root. */
async function main(args: readonly string[]): Promise<number> {
  const targetDir = resolve('libs/contracts/src/generated');
  const modules = await generateModules(resolve('schemas'), targetDir);
  const complaints = await differences(modules, targetDir);
  if (args.includes('--check')) {
    for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
    if (complaints.length > 0) process.stderr.write('Run "npm run codegen" and commit the result.\n');
    return complaints.length > 0 ? 1 : 0;
  }
  await rm(targetDir, { recursive: true, force: true });
  await mkdir(targetDir, { recursive: true });
  for (const [name, text] of modules) await writeFile(join(targetDir, name), text);
  process.stdout.write(`${String(modules.size)} modules written, ${String(complaints.length)} changed\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
