import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const ROOT = new URL('../../..', import.meta.url);

export const APPLICATIONS = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'] as const;

export function textOf(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

export function yamlOf(path: string): unknown {
  return parse(textOf(path), { merge: true });
}

/** Of docs/reference/configuration.md, which is generated from the parsers: the variables that a program reads. */
export function variablesReadBy(program: string): string[] {
  const rows = [...textOf('docs/reference/configuration.md').matchAll(/^\| `(\w+)` +\| [^|]* \| ([^|]*?) +\|/gm)];
  const isReader = (readers: string): boolean =>
    readers === 'all' || readers.split(', ').some((reader) => reader.replaceAll('`', '') === program);
  return rows.filter(([, , readers = '']) => isReader(readers)).map(([, name = '']) => name);
}
