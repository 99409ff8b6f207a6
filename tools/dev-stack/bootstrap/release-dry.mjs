/**
 * A release without releasing: `npm run release:dry`. Versions agree, the changelog has the version, every production
 * dependency is freely licensed, every package has a LICENSE. Writes the bill of materials (CycloneDX) to
 * .waypost/release and lists what the packages and the image would be made of. Ends with 1 when something is in the way.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGES, projectRoot, say } from './project.mjs';
import {
  changelogProblems,
  imageContext,
  licenseFileProblems,
  licenseProblems,
  productionOnly,
  versionProblems,
} from './release-checks.mjs';

const WORKSPACES = ['apps/console', ...PACKAGES];
const FOLDER = join(projectRoot, '.waypost/release');

const { version } = jsonOf('package.json');
const everything = JSON.parse(output('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']));
const bom = productionOnly(everything, jsonOf('package-lock.json'));
mkdirSync(FOLDER, { recursive: true });
writeFileSync(join(FOLDER, 'sbom.cdx.json'), `${JSON.stringify(bom, null, 2)}\n`);
say(`${bom.components.length} production components in .waypost/release/sbom.cdx.json`);

for (const folder of PACKAGES) {
  const [{ name, files, size }] = JSON.parse(output('npm', ['pack', '--dry-run', '--json', '--silent', `./${folder}`]));
  say(`${name}: ${files.length} files, ${Math.ceil(size / 1024)} KiB packed`);
}

const context = imageContext(output('git', ['ls-files']).split('\n'), textOf('.dockerignore'));
say(`Context of the image: ${context.length} files`);
writeFileSync(join(FOLDER, 'image-context.txt'), `${context.join('\n')}\n`);

const problems = [
  ...versionProblems(version, versionsOf()),
  ...changelogProblems(version, textOf('CHANGELOG.md')),
  ...licenseProblems(bom),
  ...licenseFileProblems(textOf('LICENSE'), licenseCopies()),
];
for (const problem of problems) say(problem);
say(problems.length === 0 ? `Waypost ${version} can be released.` : `Waypost ${version} cannot be released yet.`);
process.exitCode = problems.length === 0 ? 0 : 1;

function versionsOf() {
  const chart = textOf('deploy/helm/waypost/Chart.yaml');
  const field = (text, pattern) => pattern.exec(text)?.[1];
  return {
    ...Object.fromEntries(
      WORKSPACES.map((folder) => [`${folder}/package.json`, jsonOf(`${folder}/package.json`).version]),
    ),
    'package-lock.json': jsonOf('package-lock.json').version,
    'Chart.yaml (version)': field(chart, /^version: (.*)$/m),
    'Chart.yaml (appVersion)': field(chart, /^appVersion: (.*)$/m),
    'packages/verify-python/pyproject.toml': field(
      textOf('packages/verify-python/pyproject.toml'),
      /^version = "(.*)"$/m,
    ),
  };
}

function licenseCopies() {
  const files = [...PACKAGES, 'packages/verify-go', 'packages/verify-python'].map((folder) => `${folder}/LICENSE`);
  return Object.fromEntries(
    files.map((file) => [file, existsSync(join(projectRoot, file)) ? textOf(file) : undefined]),
  );
}

function jsonOf(path) {
  return JSON.parse(textOf(path));
}

function textOf(path) {
  return readFileSync(join(projectRoot, path), 'utf8');
}

function output(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}
