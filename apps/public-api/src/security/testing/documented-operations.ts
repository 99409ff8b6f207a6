import { openApiDocument } from '../../openapi/document.js';
import { documentedMethods } from '../../openapi/documented-methods.js';
import type { DocumentedMethod, Operation } from '../../openapi/openapi-types.js';

/** One operation of the document. */
export interface DocumentedOperation {
  /** In upper case. */
  readonly method: string;
  /** With placeholders: `/public/v1/geofences/{id}`. */
  readonly path: string;
  readonly placeholders: readonly string[];
  /** The paths whose POST makes what the placeholders stand for: `/public/v1/geofences`. */
  readonly collections: readonly string[];
  readonly queryNames: readonly string[];
}

/** Every operation that wants an API key, as the document has them: what is added there is covered here. */
export const securedOperations: readonly DocumentedOperation[] = Object.entries(
  documentedMethods(openApiDocument),
).flatMap(([path, methods]) =>
  methods
    .map((method) => ({ method, operation: operationAt(path, method) }))
    .filter(({ operation }) => operation?.security?.length !== 0)
    .map(({ method, operation }) => ({
      method,
      path,
      placeholders: [...path.matchAll(/\{([^}]+)\}/g)].map(([whole]) => whole),
      collections: [...path.matchAll(/\/\{/g)].map(({ index }) => path.slice(0, index)),
      queryNames: (operation?.parameters ?? []).filter((given) => given.in === 'query').map(({ name }) => name),
    })),
);

function operationAt(path: string, method: string): Operation | undefined {
  return openApiDocument.paths[path]?.[method.toLowerCase() as DocumentedMethod];
}

/** The path with these in place of its placeholders, one after the other. */
export function filled({ path, placeholders }: DocumentedOperation, ids: readonly string[]): string {
  return placeholders.reduce((text, placeholder, index) => text.replace(placeholder, ids[index] ?? ''), path);
}

/** What has to be made before the others can be asked for, outer things first. */
export function collectionsIn(operations: readonly DocumentedOperation[]): readonly string[] {
  const all = new Set(operations.flatMap(({ collections }) => collections));
  return [...all].sort((a, b) => a.length - b.length);
}
