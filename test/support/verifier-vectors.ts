import { readFileSync } from 'node:fs';

const VECTORS = new URL('../../packages/vectors.json', import.meta.url);

export interface Vector {
  readonly name: string;
  readonly standardwebhooks?: 'accepts' | 'refuses';
  readonly expected: { readonly reason?: string };
}

/** What the public libraries are expected to say, of the vectors that `isKnown` accepts. */
export function opinions(isKnown: (vector: Vector) => boolean): Record<string, string> {
  const { vectors } = JSON.parse(readFileSync(VECTORS, 'utf8')) as {
    vectors: readonly Vector[];
  };
  return Object.fromEntries(
    vectors
      .filter(isKnown)
      .flatMap((vector) => (vector.standardwebhooks === undefined ? [] : [[vector.name, vector.standardwebhooks]])),
  );
}
