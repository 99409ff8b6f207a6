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

export function addressOf({ search }: SavedFilter): string {
  return search === '' ? '/deliveries' : `/deliveries?${search}`;
}

/** For others: `base` is that of the fleet that an operator has chosen. */
export function linkOf(filter: SavedFilter, base: string, origin: string): string {
  return new URL(base + addressOf(filter), origin).href;
}

/** Saved under a name that exists, it replaces that one. */
export function withSaved(all: readonly SavedFilter[], filter: SavedFilter): readonly SavedFilter[] {
  return [...all.filter(({ name }) => name !== filter.name), filter];
}
