import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { apiKeyOf, saveApiKey, savedApiKeys } from './api-keys.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'stack-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('The API keys of a data directory', () => {
  it('are readable by their owner only, one per fleet', async () => {
    await saveApiKey(dir, 'a', 'wp_1');
    await saveApiKey(dir, 'b', 'wp_2');
    await saveApiKey(dir, 'a', 'wp_3');
    expect(await savedApiKeys(dir)).toEqual({ a: 'wp_3', b: 'wp_2' });
    expect((await stat(join(dir, 'api-keys.json'))).mode & 0o777).toBe(0o600);
  });

  it('are found in the stack too, and the saved one counts', async () => {
    const urls = { registryUrl: 'http://registry', databaseUrl: 'postgres://db', apiUrl: 'http://api' };
    await writeFile(join(dir, 'stack.json'), JSON.stringify({ brokers: 'a:1', ...urls, apiKeys: { f: 'wp_stack' } }));
    expect(await apiKeyOf(dir, 'f')).toBe('wp_stack');
    await saveApiKey(dir, 'f', 'wp_saved');
    expect(await apiKeyOf(dir, 'f')).toBe('wp_saved');
  });

  it('are not invented', async () => {
    await expect(apiKeyOf(dir, 'fleet-9')).rejects.toThrow('fleet create fleet-9');
  });
});
