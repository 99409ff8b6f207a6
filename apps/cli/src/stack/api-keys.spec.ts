import { watch } from 'node:fs';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { apiKeyOf, saveApiKey, savedApiKeys } from './api-keys.js';
import { readStackFile } from './stack-config.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'stack-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function writeStack(apiKeys: Record<string, string>): Promise<void> {
  const urls = { registryUrl: 'http://registry', databaseUrl: 'postgres://db', apiUrl: 'http://api' };
  await writeFile(join(dir, 'next'), JSON.stringify({ brokers: 'a:1', ...urls, apiKeys }));
  await rename(join(dir, 'next'), join(dir, 'stack.json'));
}

describe('The API keys of a data directory', () => {
  it('are readable by their owner only, one per fleet', async () => {
    await saveApiKey(dir, 'a', 'wp_1');
    await saveApiKey(dir, 'b', 'wp_2');
    await saveApiKey(dir, 'a', 'wp_3');
    expect(await savedApiKeys(dir)).toEqual({ a: 'wp_3', b: 'wp_2' });
    expect((await stat(join(dir, 'api-keys.json'))).mode & 0o777).toBe(0o600);
  });

  it('are found in the stack too, and the saved one counts', async () => {
    await saveApiKey(dir, 'f', 'wp_saved');
    await writeStack({ f: 'wp_stack', g: 'wp_other' });
    expect(await apiKeyOf(dir, 'f')).toBe('wp_saved');
    expect(await apiKeyOf(dir, 'g')).toBe('wp_other');
  });

  it('are saved once the running stack shows them in stack.json, where scripts read them', async () => {
    await writeStack({ f: 'wp_1' });
    const watcher = watch(dir, (_event, name) => {
      // As the supervisor does, a moment later.
      if (name === 'api-keys.json') setTimeout(() => void writeStack({ f: 'wp_2' }), 100);
    });
    await saveApiKey(dir, 'f', 'wp_2');
    watcher.close();
    expect((await readStackFile(dir))?.apiKeys).toEqual({ f: 'wp_2' });
  });

  it('are saved although no stack is running that would show them in the stack.json of a killed one', async () => {
    await writeStack({});
    await saveApiKey(dir, 'f', 'wp_1');
    expect(await savedApiKeys(dir)).toEqual({ f: 'wp_1' });
  });

  it('are not invented', async () => {
    await expect(apiKeyOf(dir, 'fleet-9')).rejects.toThrow('fleet create fleet-9');
  });
});
