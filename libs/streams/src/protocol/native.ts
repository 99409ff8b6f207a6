import { createRequire } from 'node:module';
import { StreamsError } from '../errors.js';

const require = createRequire(import.meta.url);

/** Loads a codec on first use. @throws StreamsError CODEC_MISSING: what to install */
export function nativePackage(name: string): unknown {
  const found = optionalPackage(name);
  if (found === null)
    throw new StreamsError('CODEC_MISSING', `The package ${name} is not installed: npm install ${name}.`);
  return found;
}

/** null: not installed, or no build for this platform. */
export function optionalPackage(name: string): unknown {
  try {
    return require(name);
  } catch {
    return null;
  }
}
