/** Licenses that let anyone use, change and pass on, also in closed products. */
const FREE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  // Licenses of fonts.
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/** @returns a sentence for each file whose version is not that of the release */
export function versionProblems(expected, versions) {
  return Object.entries(versions)
    .filter(([, version]) => version !== expected)
    .map(([file, version]) => `${file} has the version ${version ?? 'none'}, not ${expected}.`);
}

/** The section of a version has a date and says something. */
export function changelogProblems(version, changelog) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  if (section === undefined) return [`CHANGELOG.md has no section [${version}]: move what is under "Unreleased".`];
  const [heading, ...lines] = section.split('\n');
  const problems = [];
  if (!/^\[[^\]]+\] - \d{4}-\d\d-\d\d$/.test(heading))
    problems.push(`The section [${version}] has no date: [${version}] - YYYY-MM-DD.`);
  if (!lines.some((line) => line.startsWith('- '))) problems.push(`The section [${version}] is empty.`);
  return problems;
}

/**
 * A bill of materials without what only development needs. npm sbom --omit dev leaves out what both need.
 *
 * @param bom CycloneDX, as npm sbom prints it for everything
 * @param lock package-lock.json
 */
export function productionOnly(bom, lock) {
  const kept = new Set(
    Object.entries(lock.packages)
      .filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)
      .map(([path, { name = path.split('node_modules/').at(-1), version }]) => `${name}@${version}`),
  );
  return {
    ...bom,
    components: bom.components.filter(({ name, version }) => kept.has(`${name}@${version}`)),
    dependencies: bom.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) })),
  };
}

/** Packages that name no license and have one: their LICENSE files are those. */
const KNOWN = { '@kafkajs/confluent-schema-registry': 'MIT', busboy: 'MIT', streamsearch: 'MIT' };

export function licenseProblems(bom) {
  return bom.components
    .filter((component) => !component.name.startsWith('@waypost/'))
    .filter((component) => !isFree(licenseOf(component)))
    .map((component) => `${component.name}@${component.version} has the license ${licenseOf(component) ?? 'none'}.`);
}

/** @returns a sentence for each package without the license of the repository, which it takes along */
export function licenseFileProblems(license, copies) {
  return Object.entries(copies)
    .filter(([, copy]) => copy !== license)
    .map(([file]) => `${file} is not a copy of LICENSE.`);
}

function licenseOf({ name, licenses = [] }) {
  const names = licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name);
  return names.length === 0 ? KNOWN[name] : names.join(' AND ');
}

/** An SPDX expression without nesting: of an OR one part is enough, of an AND all are needed. */
function isFree(expression = '') {
  const choices = expression.replaceAll(/[()]/g, '').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((name) => FREE.has(name.trim())));
}

/** The files that a container engine gets, of those in the repository, by rules that .dockerignore uses here. */
export function imageContext(files, dockerignore) {
  const rules = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const kept = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  const dropped = rules.filter((rule) => rule.startsWith('**/')).map((rule) => rule.slice(3));
  return files.filter((file) => {
    const isKept = kept.some((path) => file === path || file.startsWith(`${path}/`));
    return isKept && !file.split('/').some((part) => dropped.some((name) => matches(part, name)));
  });
}

function matches(part, name) {
  return name.startsWith('*') ? part.endsWith(name.slice(1)) : part === name;
}
