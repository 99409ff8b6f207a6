/** The versions that a caller is ready to change (`If-Match`); null: any version. */
export type ExpectedVersions = readonly number[] | null;

/** The stored version is not an expected one: nothing was changed. */
export interface VersionMismatch {
  readonly type: 'version_mismatch';
  /** The stored version. */
  readonly version: number;
}

export function isExpected(version: number, expected: ExpectedVersions): boolean {
  return expected === null || expected.includes(version);
}
