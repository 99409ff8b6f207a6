import * as typescript from './typescript-hooks.mjs';

const REPLACED = { '@jest/globals': './jest-globals.mjs', 'fast-check': './seeded-fast-check.mjs' };

export function resolve(specifier, context, nextResolve) {
  const replacement = REPLACED[specifier];
  if (replacement === undefined) return typescript.resolve(specifier, context, nextResolve);
  return { url: new URL(replacement, import.meta.url).href, shortCircuit: true };
}

export const { load } = typescript;
