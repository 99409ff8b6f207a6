type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process, for the parts that it starts. */
export function benchEnvironment(): Environment {
  return process.env;
}

/** A developer's other settings must not change what is measured. */
const PASSED_ON = ['PATH', 'HOME', 'JAVA_HOME', 'TMPDIR', 'LANG', 'TZ'];

/** The environment of every process under measurement. */
export function passedOn(env: Environment): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
