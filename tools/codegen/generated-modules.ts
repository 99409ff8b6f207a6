import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { AvroRecord } from '@waypost/contracts';
import { schemaToTypeScript } from './schema-to-typescript.js';

/** File name to its exact text, for every schema of a folder. */
export async function generateModules(schemasDir: string, targetDir: string): Promise<Map<string, string>> {
  const names = (await readdir(schemasDir)).filter((name) => name.endsWith('.avsc')).sort();
  const modules = new Map<string, string>();
  for (const name of names) {
    const schema = JSON.parse(await readFile(join(schemasDir, name), 'utf8')) as AvroRecord;
    const generated = schemaToTypeScript(name.slice(0, -'.avsc'.length), schema);
    if (modules.has(generated.fileName)) throw new Error(`Two schemas name a record ${generated.typeName}.`);
    const path = join(targetDir, generated.fileName);
    modules.set(generated.fileName, await formatted(path, generated.source, 'typescript'));
  }
  return modules;
}

/** What `codegen:check` complains of: files that differ from, lack, or have no schema. */
export async function differences(expected: ReadonlyMap<string, string>, targetDir: string): Promise<string[]> {
  const present = await readdir(targetDir).catch(() => [] as string[]);
  const complaints = present.filter((name) => !expected.has(name)).map((name) => `${name} has no schema`);
  for (const [name, text] of expected) {
    const found = await readFile(join(targetDir, name), 'utf8').catch(() => null);
    if (found === null) complaints.push(`${name} is missing`);
    else if (found !== text) complaints.push(`${name} differs from its schema`);
  }
  return complaints;
}

export async function formatted(
  path: string,
  source: string,
  parser: 'typescript' | 'json' | 'markdown',
): Promise<string> {
  const config = await resolveConfig(path);
  const fallback = { singleQuote: true, printWidth: 120, trailingComma: 'all' as const };
  return format(source, { ...(config ?? fallback), parser });
}
