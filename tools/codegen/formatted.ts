import { readFile } from 'node:fs/promises';
import { format, type FormatConfig } from 'oxfmt';
import { projectFile } from '../dev-stack/project-root.js';

/** Formats the text like `npm run format` would for a file of that name. */
export async function formatted(path: string, text: string): Promise<string> {
  const config = JSON.parse(await readFile(projectFile('.oxfmtrc.json'), 'utf8')) as FormatConfig;
  const { code, errors } = await format(path, text, config);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join(', ')}`);
  return code;
}
