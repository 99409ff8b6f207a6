import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CliError } from '../terminal/output.js';

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

export type StackVariable =
  | 'KAFKA_BROKERS'
  | 'SCHEMA_REGISTRY_URL'
  | 'DATABASE_URL'
  | 'WAYPOST_API_URL'
  | 'WAYPOST_ADMIN_URLS';

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
        `No stack is ready in ${dataDir}: run "npm start", pass its --data-dir, or set ${name} to use another stack.`,
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
    WAYPOST_ADMIN_URLS: stack.adminUrls.join(','),
  };
}

const stackFile = z.object({
  brokers: z.union([z.string(), z.array(z.string())]),
  registryUrl: z.string(),
  databaseUrl: z.string(),
  apiUrl: z.string(),
  adminUrls: z.array(z.string()).default([]),
  apiKeys: z.record(z.string(), z.string()).default({}),
});

/** What the commands use of `DIR/stack.json`, which a running stack writes. */
export interface StackFile {
  readonly brokers: string;
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly adminUrls: readonly string[];
  readonly apiKeys: Readonly<Record<string, string>>;
}

/** null: no stack has got ready on this data directory. */
export async function readStackFile(dataDir: string): Promise<StackFile | null> {
  let text: string;
  try {
    text = await readFile(join(dataDir, 'stack.json'), 'utf8');
  } catch {
    return null;
  }
  const { brokers, ...rest } = stackFile.parse(JSON.parse(text));
  return { ...rest, brokers: typeof brokers === 'string' ? brokers : brokers.join(',') };
}

/** Where `npm start` keeps its stack by default. */
export const defaultDataDir = '.waypost/data';

/** npm runs scripts in the project's root and says here where it was called. */
export function callerDirectory(): string {
  return process.env['INIT_CWD'] ?? process.cwd();
}
