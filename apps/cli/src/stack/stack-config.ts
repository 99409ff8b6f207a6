import { CliError } from '../cli-error.js';
import { readStackFile, type StackFile } from './stack-file.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of the applications, as far as a command needs it; a set variable wins over the stack's file. */
export interface StackEnvironment {
  /** The environment, with what the stack's file says for variables that are not set. */
  readonly variables: Environment;
  /** @throws CliError naming the variable, and how to start a stack, when neither says it. */
  require(name: StackVariable): string;
  /** Whether the stack of the data directory says it, since no set variable does. */
  isFromDataDir(name: StackVariable): boolean;
}

export type StackVariable = 'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL' | 'DATABASE_URL' | 'WAYPOST_API_URL';

export async function stackEnvironment(dataDir: string, env: Environment = process.env): Promise<StackEnvironment> {
  const stack = await readStackFile(dataDir);
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const variables: Environment = { ...(stack === null ? {} : variablesOf(stack)), ...given };
  return {
    variables,
    require(name) {
      const value = variables[name];
      if (value !== undefined) return value;
      throw new CliError(
        `No stack is ready in ${dataDir}: run "npm start", name its --data-dir, or set ${name} for another stack.`,
      );
    },
    isFromDataDir: (name) => given[name] === undefined && variables[name] !== undefined,
  };
}

function variablesOf(stack: StackFile): Record<StackVariable, string> {
  return {
    KAFKA_BROKERS: stack.brokers,
    SCHEMA_REGISTRY_URL: stack.registryUrl,
    DATABASE_URL: stack.databaseUrl,
    WAYPOST_API_URL: stack.apiUrl,
  };
}
