import * as typescript from './typescript-hooks.mjs';

const REPLACED = { '@jest/globals': './jest-globals.mjs', 'fast-check': './seeded-fast-check.mjs' };

/**
 * In the thread that imports, Node makes an object of an error of these hooks that the runner does not take for one: it
 * reports the enumerable properties. The stack is of the hooks.
 */
const legible =
  (hook) =>
  async (...given) => {
    try {
      return await hook(...given);
    } catch (error) {
      const shown = { value: error.message, enumerable: true };
      throw Object.defineProperties(error, { message: shown, stack: shown });
    }
  };

export const resolve = legible((specifier, context, nextResolve) => {
  const replacement = REPLACED[specifier];
  if (replacement === undefined) return typescript.resolve(specifier, context, nextResolve);
  return { url: new URL(replacement, import.meta.url).href, shortCircuit: true };
});

export const load = legible(typescript.load);
