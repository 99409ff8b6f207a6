/** The environment of this process, for the parts that it starts. */
export function benchEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
