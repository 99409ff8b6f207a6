import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const stackFile = z.object({
  brokers: z.union([z.string(), z.array(z.string())]),
  registryUrl: z.string(),
  databaseUrl: z.string(),
  apiUrl: z.string(),
  apiKeys: z.record(z.string(), z.string()).default({}),
});

/** What the commands use of `DIR/stack.json`, which a running stack writes. */
export interface StackFile {
  readonly brokers: string;
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly apiUrl: string;
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
