/** Values of the chart, and what Kubernetes must be given for them; for npm run test:deploy. */
import assert from 'node:assert/strict';
import { POLICIES } from './chart/policies.mjs';
import { REFUSALS } from './chart/refusals.mjs';
import { APPS, podTemplatesIn, secret, valuesIn } from './testing/manifests.mjs';

const CERTIFICATES = '/etc/waypost/certificates';

/** `values`: a file of the chart's folder `ci`, by default that of the example. `version`: another one of the chart. */
export const RENDERINGS = [
  ...POLICIES,
  ...REFUSALS,
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
      const images = Object.entries(podTemplatesIn(manifests)).map(([app, { spec }]) => [
        app,
        spec.containers[0].image,
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
    title: 'another version of the chart replaces no pod whose application stays at its version',
    version: '0.2.0',
    flags: APPS.flatMap((app) => ['--set', `apps.${app}.image.tag=0.1.0`]),
    check(manifests, example) {
      const [next, before] = [manifests, example].map(podTemplatesIn);
      for (const app of APPS) assert.deepEqual(next[app], before[app]);
      const [{ metadata }] = manifests;
      assert.equal(metadata.labels['app.kubernetes.io/version'], '0.2.0');
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
    title: 'what one application is given wins over what all are given',
    flags: [
      ...secret('secrets.SCHEMA_REGISTRY_URL', 'registry'),
      ...['--set', 'apps.public-api.config.SCHEMA_REGISTRY_URL=http://other:8081'],
      ...secret('apps.webhook-delivery.secrets.WAYPOST_SEALING_KEY', 'sealing'),
    ],
    check(manifests) {
      const valueOf = valuesIn(manifests);
      assert.equal(valueOf('public-api', 'SCHEMA_REGISTRY_URL'), 'http://other:8081');
      assert.equal(valueOf('telemetry-processor', 'SCHEMA_REGISTRY_URL'), 'registry/key');
      assert.equal(valueOf('webhook-delivery', 'WAYPOST_SEALING_KEY'), 'sealing/key');
      assert.equal(valueOf('public-api', 'WAYPOST_SEALING_KEY'), 'waypost-keys/sealing');
    },
  },
  {
    title: 'an empty setting of one application takes away what all are given',
    flags: ['--set', 'config.LOG_LEVEL=debug,apps.public-api.config.LOG_LEVEL='],
    check(manifests) {
      const valueOf = valuesIn(manifests);
      assert.equal(valueOf('public-api', 'LOG_LEVEL'), undefined);
      assert.equal(valueOf('webhook-delivery', 'LOG_LEVEL'), 'debug');
    },
  },
  {
    title: 'the registry of all may be a secret whose plain setting is empty',
    flags: [...secret('secrets.SCHEMA_REGISTRY_URL', 'registry'), '--set', 'config.SCHEMA_REGISTRY_URL='],
    check(manifests) {
      assert.equal(valuesIn(manifests)('webhook-delivery', 'SCHEMA_REGISTRY_URL'), 'registry/key');
    },
  },
  {
    title: 'a setting reaches its application as it is written, where Kubernetes would put in other variables',
    flags: ['--set', 'config.KAFKA_SASL_USERNAME=a$(KAFKA_BROKERS)$$b$'],
    check(manifests) {
      const written = valuesIn(manifests)('webhook-delivery', 'KAFKA_SASL_USERNAME');
      assert.equal(written, 'a$$(KAFKA_BROKERS)$$$$b$$');
    },
  },
  {
    title: 'a version with build metadata becomes a label that Kubernetes takes',
    version: `0.2.0+build.${'5'.repeat(41)}.-x`,
    check(manifests) {
      for (const { metadata } of manifests) {
        assert.match(metadata.labels['app.kubernetes.io/version'], /^0\.2\.0_build\.5+\.-x$/);
        assert.match(metadata.labels['helm.sh/chart'], /^waypost-0\.2\.0_build\.5+$/);
      }
    },
  },
  {
    title: 'the autoscaler counts partitions as the applications do, which read 08 as 8',
    flags: [
      ...['--set', 'autoscaling.enabled=true,autoscaling.maxReplicas=8'],
      ...['--set-string', 'config.WAYPOST_PARTITIONS=08'],
    ],
    check(manifests) {
      assert.ok(manifests.some(({ kind }) => kind === 'HorizontalPodAutoscaler'));
    },
  },
  {
    title: 'all applications listen on the address that they are given',
    flags: ['--set', 'listenAddress=::'],
    check(manifests, example) {
      const [valueOf, valueByDefault] = [manifests, example].map(valuesIn);
      for (const app of APPS) {
        assert.equal(valueOf(app, 'WAYPOST_ADMIN_HOST'), '::');
        assert.equal(valueByDefault(app, 'WAYPOST_ADMIN_HOST'), '0.0.0.0');
      }
      assert.equal(valueOf('public-api', 'WAYPOST_HOST'), '::');
      assert.equal(valueByDefault('public-api', 'WAYPOST_HOST'), '0.0.0.0');
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
