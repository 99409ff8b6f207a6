import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from '@swc/core';
import { SWC_OPTIONS } from './swc-options.mjs';

const root = new URL('../../', import.meta.url);
const { paths } = JSON.parse(readFileSync(new URL('tsconfig.json', root), 'utf8')).compilerOptions;

export async function resolve(specifier, context, nextResolve) {
  const alias = paths[specifier]?.[0];
  if (alias !== undefined) return { url: new URL(alias, root).href, shortCircuit: true };
  const source = sourceOf(specifier, context.parentURL);
  return source === undefined ? nextResolve(specifier, context) : { url: source, shortCircuit: true };
}

/** The .ts file that a relative import, or the entry file, means when it says .js. */
function sourceOf(specifier, parentUrl) {
  if (!/^(\.|\/|file:)/.test(specifier)) return undefined;
  const url = specifier.startsWith('/') ? pathToFileURL(specifier) : new URL(specifier, parentUrl);
  if (url.pathname.includes('/node_modules/') || !url.pathname.endsWith('.js') || existsSync(url)) return undefined;
  const source = new URL(url.href.replace(/\.js$/, '.ts'));
  return existsSync(source) ? source.href : undefined;
}

export async function load(url, context, nextLoad) {
  // A test runner may import a file again, with another query in its URL.
  if (!new URL(url).pathname.endsWith('.ts')) return nextLoad(url, context);
  const file = fileURLToPath(url);
  const { code } = await transform(await readFile(file, 'utf8'), {
    ...SWC_OPTIONS,
    filename: file,
    sourceMaps: 'inline',
  });
  return { format: 'module', source: code, shortCircuit: true };
}
