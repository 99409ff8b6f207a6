/** What the checks of renderings read in the manifests of Kubernetes. */
import { parseAllDocuments } from 'yaml';

export const APPS = ['history-projector', 'public-api', 'telemetry-processor', 'webhook-delivery'];

/** Of the output of helm template. */
export function manifestsIn(text) {
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null);
}

/** Flags that name a key of a secret. */
export function secret(path, name) {
  return ['--set', `${path}.name=${name}`, '--set', `${path}.key=key`];
}

/** Which applications have one of this kind that is so. */
export function componentsOf(manifests, kind, isSo) {
  const found = manifests.filter((manifest) => manifest.kind === kind && isSo(manifest));
  return found.map(({ metadata }) => metadata.labels['app.kubernetes.io/component']).sort();
}

export function selects(labels) {
  return ({ podSelector }) => JSON.stringify(podSelector?.matchLabels) === JSON.stringify(labels);
}

/** The template of the pods of each application and of the set-up. */
export function podTemplatesIn(manifests) {
  const workloads = manifests.filter(({ kind }) => ['Deployment', 'Job', 'StatefulSet'].includes(kind));
  return Object.fromEntries(
    workloads.map(({ metadata, spec }) => [metadata.labels['app.kubernetes.io/component'], spec.template]),
  );
}

/** Reads the variables of each application: its value, or its secret and the key in it. */
export function valuesIn(manifests) {
  const templates = podTemplatesIn(manifests);
  return (app, variable) => {
    const found = templates[app].spec.containers[0].env.find(({ name }) => name === variable);
    const from = found?.valueFrom?.secretKeyRef;
    return from === undefined ? found?.value : `${from.name}/${from.key}`;
  };
}
