export { compactStore, type CompactStore, type CompactStoreOptions } from './compact-store.js';
export type { OverflowLayout, StructLayout } from './entry-table.js';
export { KeyBuilder } from './key-builder.js';
