import { describe, expect, it } from '@jest/globals';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly object[];
}

interface Bom {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface ReleaseChecks {
  readonly versionProblems: (expected: string, versions: Readonly<Record<string, string | undefined>>) => string[];
  readonly changelogProblems: (version: string, changelog: string) => string[];
  readonly licenseFileProblems: (license: string, copies: Readonly<Record<string, string | undefined>>) => string[];
  readonly licenseProblems: (bom: Pick<Bom, 'components'>) => string[];
  readonly productionOnly: (bom: Bom, lock: { readonly packages: Readonly<Record<string, object>> }) => Bom;
  readonly imageContext: (files: readonly string[], dockerignore: string) => string[];
}

// Plain JavaScript, since it runs before anything is built.
const checks = (await import(new URL('./release-checks.mjs', import.meta.url).href)) as ReleaseChecks;

describe('a release', () => {
  it('is refused for each file with another version, or without one', () => {
    expect(checks.versionProblems('1.2.0', { a: '1.2.0' })).toEqual([]);
    expect(checks.versionProblems('1.2.0', { a: '1.1.0', b: undefined })).toEqual([
      'a has the version 1.1.0, not 1.2.0.',
      'b has the version none, not 1.2.0.',
    ]);
  });

  it.each([
    ['of another version', '## [1.1.0] - 2026-01-01\n- A line.', /no section \[1\.2\.0\]/],
    ['that is not released', '## [Unreleased]\n- A line.', /no section/],
    ['without a date', '## [1.2.0]\n- A line.', /no date/],
    ['that says nothing', '## [1.2.0] - 2026-01-01\n\n## [1.1.0] - 2026-01-01\n- A line.', /empty/],
  ])('is refused for a changelog %s', (_, changelog, problem) => {
    expect(checks.changelogProblems('1.2.0', `# Changelog\n\n${changelog}\n`).join()).toMatch(problem);
  });

  it('is accepted with a dated section of its version', () => {
    expect(
      checks.changelogProblems('1.2.0', '# Changelog\n\n## [1.2.0] - 2026-01-01\n\n### Added\n\n- A line.\n'),
    ).toEqual([]);
  });

  it.each(['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC', 'OFL-1.1'])(
    'is accepted with the license %s',
    (expression) => {
      expect(checks.licenseProblems({ components: [{ name: 'a', version: '1', licenses: [{ expression }] }] })).toEqual(
        [],
      );
    },
  );

  it.each(['GPL-3.0-only', 'MIT AND GPL-3.0-only', 'SEE LICENSE IN FILE', 'BUSL-1.1'])(
    'is refused for the license %s',
    (expression) => {
      const component = { name: 'a', version: '1', licenses: [{ expression }] };
      expect(checks.licenseProblems({ components: [component] })).toEqual([`a@1 has the license ${expression}.`]);
    },
  );

  it('is refused for a package without a license', () => {
    expect(checks.licenseProblems({ components: [{ name: 'a', version: '1' }] })).toEqual([
      'a@1 has the license none.',
    ]);
  });
});

describe('a package of a release', () => {
  it('is refused without the license of the repository', () => {
    const copies = { 'a/LICENSE': 'Apache', 'b/LICENSE': 'Apache 1', 'c/LICENSE': undefined };
    expect(checks.licenseFileProblems('Apache', copies)).toEqual([
      'b/LICENSE is not a copy of LICENSE.',
      'c/LICENSE is not a copy of LICENSE.',
    ]);
  });
});

describe('the bill of materials', () => {
  it('has what production needs, also if development needs it too, and nothing else', () => {
    const bom = {
      components: ['a', 'b', '@s/c'].map((name) => ({ name, version: '1' })),
      dependencies: [
        { ref: 'a@1', dependsOn: ['b@1', '@s/c@1'] },
        { ref: 'b@1', dependsOn: [] },
      ],
    };
    const lock = {
      packages: {
        'node_modules/a': { version: '1' },
        'node_modules/b': { version: '1', dev: true },
        'x/node_modules/@s/c': { version: '1' },
      },
    };
    expect(checks.productionOnly(bom, lock)).toEqual({
      components: [
        { name: 'a', version: '1' },
        { name: '@s/c', version: '1' },
      ],
      dependencies: [{ ref: 'a@1', dependsOn: ['@s/c@1'] }],
    });
  });
});

describe('the context of the image', () => {
  it('is what .dockerignore lets through', () => {
    const files = ['apps/a/main.ts', 'apps/a/main.spec.ts', 'docs/a.md', 'package.json', 'apps/dist/x.js', '.env'];
    const dockerignore = '# Only this.\n*\n!apps\n!package.json\n**/dist\n**/*.spec.ts\n';
    expect(checks.imageContext(files, dockerignore)).toEqual(['apps/a/main.ts', 'package.json']);
  });
});
