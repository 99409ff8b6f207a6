import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AvroRecord } from '@waypost/contracts';
import { formatted } from './formatted.js';
import { GENERATED_HEADER, schemaToTypeScript } from './schema-to-typescript.js';

/** File name to its exact text. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/** A folder that holds generated files and nothing else. */
export interface GeneratedFolder {
  readonly dir: string;
  readonly files: GeneratedFiles;
}

/** Generates the record types of every schema in a folder, one file per schema, and all schemas as constants. */
export async function generateModules(
  schemasDir: string,
  dirs: { readonly records: string },
): Promise<{ readonly records: GeneratedFiles; readonly schemas: GeneratedFiles }> {
  const names = (await readdir(schemasDir)).filter((name) => name.endsWith('.avsc')).sort();
  const records = new Map<string, string>();
  const constants: string[] = [];
  for (const name of names) {
    const schema = JSON.parse(await readFile(join(schemasDir, name), 'utf8')) as AvroRecord;
    const { fileName, typeName, recordTypes, schemaConstant } = schemaToTypeScript(
      name.slice(0, -'.avsc'.length),
      schema,
    );
    if (records.has(fileName)) throw new Error(`Two schemas name a record ${typeName}.`);
    records.set(fileName, await formatted(join(dirs.records, fileName), moduleOf([recordTypes])));
    constants.push(schemaConstant);
  }
  return { records, schemas: new Map([['schemas.ts', `${moduleOf(constants)}\n`]]) };
}

function moduleOf(declarations: readonly string[]): string {
  return [GENERATED_HEADER, ...declarations].join('\n\n');
}

/** What `codegen:check` reports: files that differ, are missing, or have no schema. */
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
