import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { APPLICATIONS, textOf, variablesReadBy, yamlOf } from './testing/deploy-files.js';

type Values = Readonly<Record<string, unknown>>;

const CHART = 'deploy/helm/waypost';
const isValid = new Ajv({ strict: false }).compile(JSON.parse(textOf(`${CHART}/values.schema.json`)) as object);
const defaults = yamlOf(`${CHART}/values.yaml`) as Values;
const example = merged(defaults, yamlOf(`${CHART}/ci/example-values.yaml`) as Values);
const templates = readdirSync(new URL(`../../${CHART}/templates`, import.meta.url))
  .map((name) => textOf(`${CHART}/templates/${name}`))
  .join('\n');

/** As helm merges values: objects key by key, and null removes. */
function merged(under: Values, over: Values): Values {
  const entries = Object.entries(over).map(([key, value]) => {
    const below = under[key];
    return [key, isObject(below) && isObject(value) ? merged(below, value) : value] as const;
  });
  const all = { ...under, ...Object.fromEntries(entries) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

describe('the values of the chart (R-40)', () => {
  it.each(readdirSync(new URL(`../../${CHART}/ci`, import.meta.url)))('are valid in %s', (name) => {
    isValid(merged(defaults, yamlOf(`${CHART}/ci/${name}`) as Values));
    expect(isValid.errors ?? []).toEqual([]);
  });

  it('are not valid without the addresses that only the operator knows', () => {
    expect(isValid(defaults)).toBe(false);
  });

  // These are refused by the templates, which npm run test:deploy shows.
  const byTemplates = ['variable-of-another', 'secret-of-another', 'more-than-partitions'];
  const hostile = readdirSync(new URL('hostile-values', import.meta.url)).filter(
    (name) => !byTemplates.includes(name.replace('.yaml', '')),
  );

  it.each([
    {
      apps: { 'public-api': { resources: { requests: { cpu: 0.5, memory: '1Ti' }, limits: { memory: 1073741824 } } } },
    },
    { apps: { 'telemetry-processor': { state: { persistent: true, size: '1Ti' } } } },
    { apps: { 'public-api': { nodeSelector: { gpu: 'true' }, tolerations: [{ operator: 'Exists' }] } } },
    {
      apps: {
        'public-api': { tolerations: [{ key: 'gpu', value: 'yes', effect: 'NoExecute', tolerationSeconds: 3 }] },
      },
    },
    { apps: { 'public-api': { affinity: { podAntiAffinity: {} } } }, image: { pullSecrets: [{ name: 'registry' }] } },
    { networkPolicies: { clients: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: 'gateway' } } }] } },
    { networkPolicies: { clients: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }] } },
    ...['::/0', 'fd00::/8', '1:2:3:4:5:6:7:8/128'].map((cidr) => ({
      networkPolicies: { clients: [{ ipBlock: { cidr } }] },
    })),
    { listenAddress: '::' },
  ])('are valid with %j', (values) => {
    isValid(merged(example, values));
    expect(isValid.errors ?? []).toEqual([]);
  });

  it.each(hostile)('are refused by the schema in %s', (name) => {
    expect(isValid(merged(example, yamlOf(`test/deploy/hostile-values/${name}`) as Values))).toBe(false);
  });
});

describe('the chart (R-40)', () => {
  const variables = yamlOf(`${CHART}/files/variables.yaml`) as Readonly<Record<string, readonly string[]>>;
  /** Set by the chart, or of no use in a pod. */
  const own = [
    'WAYPOST_ADMIN_HOST',
    'WAYPOST_ADMIN_PORT',
    'WAYPOST_HOST',
    'WAYPOST_PORT',
    'WAYPOST_INSTANCE_ID',
    'WAYPOST_STATE_DIR',
  ];

  it.each(APPLICATIONS)('lets every variable of %s be set, and knows no other', (app) => {
    const settable = variablesReadBy(app).filter((name) => ![...own, 'WAYPOST_SUPERVISED'].includes(name));
    expect([...(variables[app] ?? [])].sort()).toEqual(settable.sort());
  });

  it('sets no variable itself that nothing reads', () => {
    const set = [...templates.matchAll(/- name: ([A-Z][A-Z_]+)$/gm)].map(([, name]) => name);
    const known = [...APPLICATIONS, 'waypost'].flatMap((program) => variablesReadBy(program));
    expect(set).toEqual(expect.arrayContaining(own));
    expect(set.filter((name) => !known.includes(String(name)))).toEqual([]);
  });

  it('probes and publishes the ports of the image, at paths that the applications answer', () => {
    const server = textOf('libs/platform/src/admin/admin-server.ts');
    const paths = [...templates.matchAll(/path: (\/[\w/]+)[, ]*(?:port: admin)?/g)].map(([, path = '']) => path);
    const asked = paths.filter((path) => path.startsWith('/health') || path === '/metrics');
    expect(new Set(asked)).toEqual(new Set(['/health/live', '/health/ready', '/metrics']));
    for (const path of asked) expect(server).toContain(`case '${path}':`);
    expect(textOf('Dockerfile')).toContain('EXPOSE 8080 9300');
    expect([...templates.matchAll(/containerPort: (\d+)/g)].map(([, port]) => port)).toEqual(['9300', '8080']);
  });

  it('makes names of StatefulSets that Kubernetes can put into a label of their pods', () => {
    const naming = templates.slice(
      templates.indexOf('define "waypost.name"'),
      templates.indexOf('define "waypost.release"'),
    );
    const lengths = [...naming.matchAll(/trunc (\d+)/g)].map(([, length]) => Number(length));
    expect(lengths).toHaveLength(3);
    const { properties } = JSON.parse(textOf(`${CHART}/values.schema.json`)) as {
      properties: Record<string, { maxLength?: number }>;
    };
    for (const name of ['nameOverride', 'fullnameOverride']) lengths.push(properties[name]?.maxLength ?? Infinity);
    const longest = Math.max(...APPLICATIONS.map((app) => `-${app}`.length));
    expect(Math.max(...lengths) + longest).toBeLessThanOrEqual(52);
  });

  it('scales webhook-delivery by a metric that it has', () => {
    const [, metric = ''] = /metric: \{ name: (\w+) \}/.exec(templates) ?? [];
    const page = textOf('docs/reference/metrics.md');
    expect(page.slice(page.indexOf('## webhook-delivery'))).toContain(`| \`${metric}\``);
  });

  it('makes no secret and grants no rights', () => {
    expect(templates).not.toMatch(/kind: (Secret|Role|ClusterRole|RoleBinding|ClusterRoleBinding|ServiceAccount)$/m);
    expect(templates).not.toMatch(/privileged: true|hostNetwork|hostPath/);
    expect(templates.match(/automountServiceAccountToken: false/g)).toHaveLength(2);
    expect(templates.match(/waypost\.containerSecurity" [.$]/g)).toHaveLength(2);
  });

  it('labels pods with what selects them only, so that a newer chart does not replace them', () => {
    const labels = [...templates.matchAll(/template:\n +metadata:\n(?: +#.*\n)* +labels: \{\{- include "([\w.]+)"/g)];
    expect(labels.map(([, name]) => name)).toEqual(['waypost.selector', 'waypost.selector']);
  });

  it('carries the version of the project', () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string };
    expect(yamlOf(`${CHART}/Chart.yaml`)).toMatchObject({ version, appVersion: version });
  });
});
