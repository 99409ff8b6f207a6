/** `17` of `openjdk version "17.0.15"`, `8` of `java version "1.8.0_392"`; undefined when there is none. */
export function javaMajorVersion(output: string): number | undefined {
  const found = /version "(?:1\.)?(\d+)/.exec(output)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Is `version` (`v20.19.1` or `20.19.1`) at least `major.minor`? */
export function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, foundMajor, foundMinor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (foundMajor === undefined) return false;
  return Number(foundMajor) > major || (Number(foundMajor) === major && Number(foundMinor) >= minor);
}
