/** Values of the chart, and the network policies that Kubernetes must be given for them. */
import assert from 'node:assert/strict';
import { APPS, componentsOf, selects } from '../testing/manifests.mjs';

const ADMIN_URLS = 'http://waypost-webhook-delivery-0.waypost-webhook-delivery:9300';

export const POLICIES = [
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
    title: 'no policy lets anything out but to named ports, peers and public addresses',
    check(manifests) {
      const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
      assert.equal(policies.length, APPS.length + 1);
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
    title: 'public-api asks no instances where its own setting takes away the addresses of all',
    flags: ['--set', `config.WAYPOST_ADMIN_URLS=${ADMIN_URLS},apps.public-api.config.WAYPOST_ADMIN_URLS=`],
    check(manifests, example) {
      const policies = (all) => all.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
      assert.deepEqual(policies(manifests), policies(example));
    },
  },
  {
    title: 'the set-up has a policy before its job runs, for DNS and the backends, and lets nothing in',
    check(manifests) {
      const isOfSetUp = ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'set-up';
      const [policy, ...others] = manifests.filter(({ kind }) => kind === 'NetworkPolicy').filter(isOfSetUp);
      assert.deepEqual(others, []);
      const job = manifests.find(({ kind }) => kind === 'Job');
      const { labels } = job.spec.template.metadata;
      assert.deepEqual(policy.spec.podSelector.matchLabels, labels);
      assert.equal(policy.metadata.annotations['helm.sh/hook'], job.metadata.annotations['helm.sh/hook']);
      assert.ok(Number(policy.metadata.annotations['helm.sh/hook-weight']) < 0);
      assert.equal(policy.metadata.annotations['helm.sh/hook-delete-policy'], 'before-hook-creation');
      assert.deepEqual(policy.spec.policyTypes, ['Ingress', 'Egress']);
      assert.deepEqual(policy.spec.ingress, []);
      const [dns, backends, ...rest] = policy.spec.egress;
      assert.deepEqual(rest, []);
      assert.deepEqual(new Set(dns.ports.map(({ port }) => port)), new Set([53]));
      assert.ok(backends.to.length > 0);
    },
  },
  {
    title: 'the set-up that is off leaves no policy behind',
    flags: ['--set', 'setUp.enabled=false'],
    check(manifests) {
      assert.deepEqual(
        componentsOf(manifests, 'NetworkPolicy', () => true),
        APPS,
      );
    },
  },
  {
    title: 'a backend may be at any port where there are no network policies',
    flags: ['--set', 'networkPolicies.enabled=false,config.KAFKA_BROKERS=kafka.example:1'],
    check(manifests) {
      assert.deepEqual(
        componentsOf(manifests, 'NetworkPolicy', () => true),
        [],
      );
    },
  },
];
