import { randomBytes } from 'node:crypto';
import { readJsonFile, writeJsonFile, type DataDir } from '../index.js';

/** Base64 of 32 bytes each, as the applications take them. */
export interface StackKeys {
  /** Seals subscription secrets; with another key the stored ones can no longer be opened. */
  readonly sealingKey: string;
  readonly pageTokenKey: string;
}

/** The keys of this data directory, made at the first start. */
export async function stackKeys(dataDir: DataDir): Promise<StackKeys> {
  const file = dataDir.file('keys.json');
  const saved = (await readJsonFile(file)) as StackKeys | null;
  if (saved !== null) return saved;
  const keys: StackKeys = {
    sealingKey: randomBytes(32).toString('base64'),
    pageTokenKey: randomBytes(32).toString('base64'),
  };
  await writeJsonFile(file, keys);
  return keys;
}
