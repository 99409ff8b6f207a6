import { readFileSync } from 'node:fs';
import type { ReadText } from './variables.js';

/** The text of a PEM file that holds a block such as `CERTIFICATE` or `PRIVATE KEY`, read at once. */
export function asPemFile(block: 'CERTIFICATE' | 'PRIVATE KEY'): ReadText<string> {
  return (path) => {
    try {
      const pem = readFileSync(path, 'utf8');
      // Keys have kinds: BEGIN RSA PRIVATE KEY, BEGIN EC PRIVATE KEY.
      return new RegExp(`^-----BEGIN ([A-Z0-9]+ )*${block}-----`, 'm').test(pem) ? pem : undefined;
    } catch {
      return undefined;
    }
  };
}
