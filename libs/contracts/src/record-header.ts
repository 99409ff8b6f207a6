export interface HeaderOfRecord {
  readonly key: string;
  readonly value: Buffer | null;
}

/** The value of a header that a record has exactly once; null: it has none or several, or a value that is too long to be one. */
export function singleHeader(headers: readonly HeaderOfRecord[], name: string, maxBytes: number): string | null {
  if (headers.length === 0) return null;
  const [found, ...others] = headers.filter(({ key }) => key === name);
  if (!found?.value || others.length > 0 || found.value.length > maxBytes) return null;
  return found.value.toString('latin1');
}
