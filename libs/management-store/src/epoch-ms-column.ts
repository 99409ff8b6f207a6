import type { ColumnOptions, ValueTransformer } from 'typeorm';

/** timestamptz in the database, epoch milliseconds in TypeScript; null stays null. */
const epochMs: ValueTransformer = {
  from: (value: Date | null) => value?.getTime() ?? null,
  to: (value: unknown) => (typeof value === 'number' ? new Date(value) : value),
};

/** A column that SQL reads as a date and the program as epoch milliseconds. */
export function epochMsColumn(name: string): ColumnOptions {
  return { name, type: 'timestamptz', precision: 3, transformer: epochMs };
}
