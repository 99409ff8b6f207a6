import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { PLANTED_BUGS } from './planted-bugs.js';
import { fileInBuild, withBug } from './planted-build.js';

describe('the planted bugs', () => {
  it('are at least twenty, each with a name of its own', () => {
    expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length);
    expect(PLANTED_BUGS.length).toBeGreaterThanOrEqual(20);
  });

  it.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))(
    'still have their place in the build, in which they are planted: %s',
    (_, bug) => {
      const text = readFileSync(fileInBuild(projectFile('dist'), bug), 'utf8');
      expect(withBug(text, bug)).not.toBe(text);
    },
  );
});
