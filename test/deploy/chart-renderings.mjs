/** Values of the chart, and what Kubernetes must be given for them; for npm run test:deploy. */
import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';

const APPS = ['history-projector', 'public-api', 'telemetry-processor', 'webhook-delivery'];
const ADMIN_URLS = 'http://waypost-webhook-delivery-0.waypost-webhook-delivery:9300';

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
];

/** Of the output of helm template. */
export function manifestsIn(text) {
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null);
}

/** Which applications have one of this kind that is so. */
function componentsOf(manifests, kind, isSo) {
  const found = manifests.filter((manifest) => manifest.kind === kind && isSo(manifest));
  return found.map(({ metadata }) => metadata.labels['app.kubernetes.io/component']).sort();
}

function selects(labels) {
  return ({ podSelector }) => JSON.stringify(podSelector?.matchLabels) === JSON.stringify(labels);
}
