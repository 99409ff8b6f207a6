import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { APPLICATIONS, textOf, variablesReadBy, yamlOf } from './testing/deploy-files.js';

interface Service {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly profiles?: readonly string[];
  readonly [setting: string]: unknown;
}

const compose = yamlOf('docker-compose.yml') as { readonly services: Readonly<Record<string, Service>> };
const services = Object.entries(compose.services);
const ofImage = services.filter(([, { build }]) => build !== undefined);
const schema = JSON.parse(textOf('test/deploy/testing/compose-spec.json')) as object;
const isCompose = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(schema);

describe('docker-compose.yml (R-40)', () => {
  it('is valid by the schema of the Compose specification, which refuses a misspelled key', () => {
    isCompose(compose);
    expect(isCompose.errors ?? []).toEqual([]);
    const misspelled = { ...compose, services: { ...compose.services, kafka: { image: 'a', enviroment: {} } } };
    expect(isCompose(misspelled)).toBe(false);
  });

  it('has every application, the set-up before all of them, and the demonstration and monitoring on request', () => {
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining([...APPLICATIONS, 'set-up']));
    for (const app of APPLICATIONS) {
      expect(compose.services[app]?.['depends_on']).toEqual({
        'set-up': { condition: 'service_completed_successfully' },
      });
    }
    const on = (profile: string) =>
      services.filter(([, { profiles }]) => profiles?.includes(profile)).map(([name]) => name);
    expect(on('demo')).toEqual(['simulator', 'demo-subscriber']);
    expect(on('monitoring')).toEqual(['prometheus', 'grafana']);
  });

  it.each(ofImage)('gives %s variables that its program reads, and no others', (_, { command, environment = {} }) => {
    const [program = ''] = command ?? [];
    // Both demonstrations find the stack as the command line does.
    const known = variablesReadBy((APPLICATIONS as readonly string[]).includes(program) ? program : 'waypost');
    const others = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DATABASE_URL', 'LOG_LEVEL', 'WAYPOST_API_URL'];
    const isApplication = (APPLICATIONS as readonly string[]).includes(program);
    expect(Object.keys(environment).filter((name) => !(isApplication ? known : others).includes(name))).toEqual([]);
  });

  it.each(ofImage)('runs %s without rights, and so that there can be several of it', (_, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(service.ports).toBeUndefined();
    expect(service['container_name']).toBeUndefined();
    expect(service.environment).not.toHaveProperty('WAYPOST_INSTANCE_ID');
  });

  it('gives the command line in public-api a place for the API keys that it makes', () => {
    expect(compose.services['public-api']?.volumes).toEqual(['keys:/data']);
  });

  it('prints a link to the console that a browser on this machine can open', () => {
    const { command = [] } = compose.services['demo-subscriber'] ?? {};
    const url = new URL(command[command.indexOf('--console-url') + 1] ?? '');
    expect(compose.services['gateway']?.ports).toEqual([`${url.host}:8080`]);
  });

  it('publishes ports on the loopback interface only, each once', () => {
    const ports = services.flatMap(([, service]) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(0);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(new Set(ports.map((port) => port.split(':')[1])).size).toBe(ports.length);
  });

  it('mounts files that are there', () => {
    const mounted = services
      .flatMap(([, { volumes = [] }]) => volumes)
      .filter((volume) => volume.startsWith('./'))
      .map((volume) => volume.split(':')[0] ?? '');
    expect(mounted).toContain('./deploy/prometheus/rules.yml');
    expect(mounted.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
  });

  it('scrapes every application at the admin port of the image, under the job that the alerts expect', () => {
    const { scrape_configs: jobs } = yamlOf('deploy/compose/prometheus.yml') as {
      scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    expect(jobs).toMatchObject([{ job_name: 'waypost', dns_sd_configs: [{ names: APPLICATIONS, port: 9300 }] }]);
    expect(textOf('Dockerfile')).toContain('WAYPOST_ADMIN_PORT=9300');
  });
});
