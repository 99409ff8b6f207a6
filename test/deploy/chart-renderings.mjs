/** Values of the chart, and what Kubernetes must be given for them; for npm run test:deploy. */
import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';

const APPS = ['history-projector', 'public-api', 'telemetry-processor', 'webhook-delivery'];
const ADMIN_URLS = 'http://waypost-webhook-delivery-0.waypost-webhook-delivery:9300';
const CERTIFICATES = '/etc/waypost/certificates';

/** `values`: a file of the chart's folder `ci`, by default that of the example. */
export const RENDERINGS = [
  {
    title: 'public-api may ask the instances once it has their addresses, and not before',
    flags: ['--set', `apps.public-api.config.WAYPOST_ADMIN_URLS=${ADMIN_URLS}`],
    check(manifests, example) {
      const labels = { 'app.kubernetes.io/name': 'waypost', 'app.kubernetes.io/instance': 'waypost' };
      const publicApi = { ...labels, 'app.kubernetes.io/component': 'public-api' };
      const isAsked = ({ spec }) => spec.ingress.some(({ from = [] }) => from.some(selects(publicApi)));
      const asks = ({ spec }) =>
        spec.egress.some(({ ports, to = [] }) => ports?.[0].port === 9300 && to.some(selects(labels)));
      assert.deepEqual(componentsOf(manifests, 'NetworkPolicy', isAsked), APPS);
      assert.deepEqual(componentsOf(manifests, 'NetworkPolicy', asks), ['public-api']);
      assert.deepEqual(
        componentsOf(example, 'NetworkPolicy', (policy) => isAsked(policy) || asks(policy)),
        [],
      );
    },
  },
  {
    title: 'StatefulSets of a long release have names that Kubernetes can put into a label of their pods',
    release: 'a'.repeat(53),
    check(manifests) {
      const sets = manifests.filter(({ kind }) => kind === 'StatefulSet').map(({ metadata }) => metadata.name);
      assert.equal(sets.length, 3);
      assert.deepEqual(
        sets.filter((name) => name.length > 52),
        [],
      );
    },
  },
  ...['1a', 'a.b'].map((release) => ({
    title: `a release named ${release}, after which no service can be named, is told what to set`,
    release,
    refusal: /waypost: no service can be named .* Set fullnameOverride/,
  })),
  {
    title: 'names that YAML would read as numbers or as true stay names',
    release: '1e3',
    flags: [
      ...['--set-string', 'fullnameOverride=waypost,nameOverride=on,serviceAccountName=1'],
      ...['--set-string', 'certificates.secret=2,image.repository=1,image.tag=1'],
      ...['--set-string', 'apps.telemetry-processor.state.storageClassName=3'],
      ...['--set-string', 'secrets.DATABASE_URL.name=4'],
    ],
    check(manifests) {
      const job = manifests.find(({ kind }) => kind === 'Job');
      const { serviceAccountName, containers, volumes } = job.spec.template.spec;
      assert.equal(serviceAccountName, '1');
      assert.equal(volumes[0].secret.secretName, '2');
      assert.equal(containers[0].image, '1:1');
      assert.equal(valuesIn(manifests)('set-up', 'DATABASE_URL'), '4/url');
      const [claim] = manifests.flatMap(({ spec }) => spec.volumeClaimTemplates ?? []);
      assert.equal(claim.spec.storageClassName, '3');
      for (const { metadata } of manifests) {
        assert.equal(metadata.labels['app.kubernetes.io/name'], 'on');
        assert.equal(metadata.labels['app.kubernetes.io/instance'], '1e3');
      }
    },
  },
  {
    title: 'an upgrade can leave applications at their version, which needs no digest where all have one',
    flags: [
      ...['--set', `image.digest=sha256:${'1'.repeat(64)},apps.public-api.image.tag=0.0.9`],
      ...['--set', `apps.webhook-delivery.image.digest=sha256:${'2'.repeat(64)}`],
    ],
    check(manifests) {
      const images = manifests
        .filter(({ kind }) => ['Deployment', 'Job', 'StatefulSet'].includes(kind))
        .map(({ metadata, spec }) => [
          metadata.labels['app.kubernetes.io/component'],
          spec.template.spec.containers[0].image,
        ]);
      const repository = 'registry.example/waypost';
      assert.deepEqual(Object.fromEntries(images), {
        'history-projector': `${repository}@sha256:${'1'.repeat(64)}`,
        'public-api': `${repository}:0.0.9`,
        'set-up': `${repository}@sha256:${'1'.repeat(64)}`,
        'telemetry-processor': `${repository}@sha256:${'1'.repeat(64)}`,
        'webhook-delivery': `${repository}@sha256:${'2'.repeat(64)}`,
      });
    },
  },
  {
    title: 'no policy lets anything out but to named ports, peers and public addresses',
    check(manifests) {
      const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
      assert.equal(policies.length, APPS.length);
      for (const { spec } of policies) {
        for (const { ports, to } of spec.egress) {
          const isDns = ports?.every(({ port }) => port === 53);
          const isPublic = to?.every(({ ipBlock }) => ipBlock?.cidr === '0.0.0.0/0' && ipBlock.except.length > 0);
          assert.ok(isDns || isPublic || (ports?.length > 0 && to?.length > 0), JSON.stringify({ ports, to }));
        }
      }
    },
  },
  {
    title: 'each application and the set-up can have logins of their own',
    values: 'own-logins-values.yaml',
    check(manifests) {
      const valueOf = valuesIn(manifests);
      for (const app of [...APPS, 'set-up']) {
        assert.equal(valueOf(app, 'KAFKA_SASL_USERNAME'), app);
        assert.equal(valueOf(app, 'KAFKA_SASL_PASSWORD'), `waypost-kafka/${app}`);
      }
      assert.equal(valueOf('public-api', 'DATABASE_URL'), 'waypost-database/api');
      assert.equal(valueOf('history-projector', 'DATABASE_URL'), 'waypost-database/projector');
      assert.equal(valueOf('history-projector', 'DATABASE_SCHEMA_URL'), 'waypost-database/schema');
      assert.equal(valueOf('set-up', 'DATABASE_URL'), 'waypost-database/schema');
      assert.equal(valueOf('webhook-delivery', 'DATABASE_URL'), undefined);
    },
  },
  {
    title: 'a login that neither the application nor all have is missed at once',
    values: 'own-logins-values.yaml',
    flags: ['--set', 'setUp.secrets=null'],
    refusal: /waypost: set-up needs DATABASE_URL/,
  },
  {
    title: 'what one application is given wins over what all are given',
    flags: [
      ...secret('secrets.SCHEMA_REGISTRY_URL', 'registry'),
      ...['--set', 'apps.public-api.config.SCHEMA_REGISTRY_URL=http://other'],
      ...secret('apps.webhook-delivery.secrets.WAYPOST_SEALING_KEY', 'sealing'),
    ],
    check(manifests) {
      const valueOf = valuesIn(manifests);
      assert.equal(valueOf('public-api', 'SCHEMA_REGISTRY_URL'), 'http://other');
      assert.equal(valueOf('telemetry-processor', 'SCHEMA_REGISTRY_URL'), 'registry/key');
      assert.equal(valueOf('webhook-delivery', 'WAYPOST_SEALING_KEY'), 'sealing/key');
      assert.equal(valueOf('public-api', 'WAYPOST_SEALING_KEY'), 'waypost-keys/sealing');
    },
  },
  {
    title: 'an empty setting of one application takes away what all are given',
    flags: [
      ...secret('secrets.SCHEMA_REGISTRY_URL', 'registry'),
      ...['--set', 'config.LOG_LEVEL=debug,apps.public-api.config.LOG_LEVEL='],
      ...['--set', 'apps.public-api.config.SCHEMA_REGISTRY_URL='],
    ],
    check(manifests) {
      const valueOf = valuesIn(manifests);
      assert.equal(valueOf('public-api', 'LOG_LEVEL'), undefined);
      assert.equal(valueOf('public-api', 'SCHEMA_REGISTRY_URL'), undefined);
      assert.equal(valueOf('webhook-delivery', 'LOG_LEVEL'), 'debug');
      assert.equal(valueOf('webhook-delivery', 'SCHEMA_REGISTRY_URL'), 'registry/key');
    },
  },
  {
    title: 'public-api asks no instances where its own setting takes away the addresses of all',
    flags: ['--set', `config.WAYPOST_ADMIN_URLS=${ADMIN_URLS},apps.public-api.config.WAYPOST_ADMIN_URLS=`],
    check(manifests, example) {
      const policies = (all) => all.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
      assert.deepEqual(policies(manifests), policies(example));
    },
  },
  {
    title: 'the autoscaler counts the partitions of all where the set-up has no settings',
    flags: ['--set', 'autoscaling.enabled=true,setUp.config=null'],
    check(manifests) {
      assert.ok(manifests.some(({ kind }) => kind === 'HorizontalPodAutoscaler'));
    },
  },
  {
    title: 'applications can log in at a collector, and trust authorities of the operator',
    flags: [
      ...secret('secrets.OTEL_EXPORTER_OTLP_HEADERS', 'collector'),
      ...['--set', `config.OTEL_EXPORTER_OTLP_CERTIFICATE=${CERTIFICATES}/collector.pem`],
      ...['--set', `config.NODE_EXTRA_CA_CERTS=${CERTIFICATES}/own.pem`],
    ],
    check(manifests) {
      const valueOf = valuesIn(manifests);
      assert.equal(valueOf('webhook-delivery', 'OTEL_EXPORTER_OTLP_HEADERS'), 'collector/key');
      assert.equal(valueOf('webhook-delivery', 'OTEL_EXPORTER_OTLP_CERTIFICATE'), `${CERTIFICATES}/collector.pem`);
      assert.equal(valueOf('public-api', 'OTEL_EXPORTER_OTLP_HEADERS'), undefined);
      for (const app of [...APPS, 'set-up'])
        assert.equal(valueOf(app, 'NODE_EXTRA_CA_CERTS'), `${CERTIFICATES}/own.pem`);
    },
  },
];

/** Of the output of helm template. */
export function manifestsIn(text) {
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null);
}

/** Flags that name a key of a secret. */
function secret(path, name) {
  return ['--set', `${path}.name=${name}`, '--set', `${path}.key=key`];
}

/** Which applications have one of this kind that is so. */
function componentsOf(manifests, kind, isSo) {
  const found = manifests.filter((manifest) => manifest.kind === kind && isSo(manifest));
  return found.map(({ metadata }) => metadata.labels['app.kubernetes.io/component']).sort();
}

function selects(labels) {
  return ({ podSelector }) => JSON.stringify(podSelector?.matchLabels) === JSON.stringify(labels);
}

/** Reads the variables of each application: its value, or its secret and the key in it. */
function valuesIn(manifests) {
  return (app, variable) => {
    const isOfApp = ({ kind, metadata }) =>
      ['StatefulSet', 'Deployment', 'Job'].includes(kind) && metadata.labels['app.kubernetes.io/component'] === app;
    const [container] = manifests.find(isOfApp).spec.template.spec.containers;
    const found = container.env.find(({ name }) => name === variable);
    const from = found?.valueFrom?.secretKeyRef;
    return from === undefined ? found?.value : `${from.name}/${from.key}`;
  };
}
