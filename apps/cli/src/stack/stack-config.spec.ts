import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stackEnvironment } from './stack-config.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'stack-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function writeStack(brokers: unknown = 'a:1,b:2'): Promise<void> {
  const stack = {
    brokers,
    registryUrl: 'http://registry',
    databaseUrl: 'postgres://db',
    apiUrl: 'http://api',
    pids: { kafka: [1] },
  };
  await writeFile(join(dir, 'stack.json'), JSON.stringify(stack));
}

describe('The stack of a data directory', () => {
  it.each([['a:1,b:2'], [['a:1', 'b:2']]])('is read from stack.json (brokers %j)', async (brokers) => {
    await writeStack(brokers);
    const stack = await stackEnvironment(dir, {});
    expect(stack.require('KAFKA_BROKERS')).toBe('a:1,b:2');
    expect(stack.require('WAYPOST_API_URL')).toBe('http://api');
  });

  it('gives way to environment variables, one by one', async () => {
    await writeStack();
    const stack = await stackEnvironment(dir, { SCHEMA_REGISTRY_URL: 'http://other', DATABASE_URL: '' });
    expect(stack.require('SCHEMA_REGISTRY_URL')).toBe('http://other');
    expect(stack.require('DATABASE_URL')).toBe('postgres://db');
    expect(stack.isFromDataDir('DATABASE_URL')).toBe(true);
    expect(stack.isFromDataDir('SCHEMA_REGISTRY_URL')).toBe(false);
  });

  it('says how to get one when there is none', async () => {
    const stack = await stackEnvironment(dir, { KAFKA_BROKERS: 'x:1' });
    expect(stack.require('KAFKA_BROKERS')).toBe('x:1');
    expect(() => stack.require('DATABASE_URL')).toThrow(/run "npm start".*DATABASE_URL/);
  });
});
