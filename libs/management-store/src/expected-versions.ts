/** The versions that a caller is ready to change (`If-Match`); null: whatever is there. */
export type ExpectedVersions = readonly number[] | null;

/** Somebody else has changed it: nothing was done. `version` is the one that is there. */
export interface VersionMismatch {
  readonly type: 'version_mismatch';
  readonly version: number;
}

export function isExpected(version: number, expected: ExpectedVersions): boolean {
  return expected === null || expected.includes(version);
}
