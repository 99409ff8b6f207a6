import { filtersOf, searchOf } from './delivery-filters.js';

export interface SavedFilter {
  readonly name: string;
  /** As the address has it. */
  readonly search: string;
}

/** Anything may stand in the storage of a browser. */
export function decodeSaved(value: unknown): SavedFilter | null {
  const { name, search } = (value ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string' || name === '' || typeof search !== 'string') return null;
  return { name, search: searchOf(filtersOf(search)) };
}

/** Saved under a name that exists, it replaces that one. */
export function withSaved(all: readonly SavedFilter[], filter: SavedFilter): readonly SavedFilter[] {
  return [...all.filter(({ name }) => name !== filter.name), filter];
}
