import type { DocumentedMethod, OpenApiDocument } from '../openapi/openapi.types.js';
import { startTestApi } from './test-api.js';

/** One operation of the document. */
export interface DocumentedOperation {
  /** In upper case. */
  readonly method: string;
  /** The path with placeholders: `/public/v1/geofences/{id}`. */
  readonly path: string;
  readonly placeholders: readonly string[];
  /** The paths whose POST creates what the placeholders name: `/public/v1/geofences`. */
  readonly collections: readonly string[];
  readonly queryNames: readonly string[];
}

function securedOperationsOf({ paths }: OpenApiDocument): readonly DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    (Object.keys(item) as DocumentedMethod[])
      .map((method) => ({ method: method.toUpperCase(), operation: item[method] }))
      .filter(({ operation }) => operation?.security === undefined)
      .map(({ method, operation }) => ({
        method,
        path,
        placeholders: [...path.matchAll(/\{([^}]+)\}/g)].map(([whole]) => whole),
        collections: [...path.matchAll(/\/\{/g)].map(({ index }) => path.slice(0, index)),
        queryNames: (operation?.parameters ?? []).filter((given) => given.in === 'query').map(({ name }) => name),
      })),
  );
}

async function readDocument(): Promise<OpenApiDocument> {
  const api = await startTestApi();
  await api.close();
  return api.document;
}

/** Every operation that needs an API key: new ones are covered without a change here. */
export const securedOperations = securedOperationsOf(await readDocument());

/** The path with these in place of its placeholders, one after the other. */
export function filled({ path, placeholders }: DocumentedOperation, ids: readonly string[]): string {
  return placeholders.reduce((text, placeholder, index) => text.replace(placeholder, ids[index] ?? ''), path);
}

/** The collections that need items before other operations can be called, outer ones first. */
export function collectionsIn(operations: readonly DocumentedOperation[]): readonly string[] {
  const all = new Set(operations.flatMap(({ collections }) => collections));
  return [...all].sort((a, b) => a.length - b.length);
}
