import { describe, expect, it } from '@jest/globals';
import { choosePort } from './free-port.js';

function free() {
  return Promise.resolve(true);
}

describe('choosePort', () => {
  it('keeps the preferred port while it is free', async () => {
    expect(await choosePort({ preferred: 4321, isFree: free })).toBe(4321);
  });

  it('leaves a preferred port that is in use, and one that is promised to another part', async () => {
    const isFree = (port: number) => Promise.resolve(port !== 4321);
    expect(await choosePort({ preferred: 4321, isFree, random: () => 0 })).toBe(20_000);
    expect(await choosePort({ preferred: 4321, taken: new Set([4321]), isFree: free, random: () => 0 })).toBe(20_000);
  });

  it('chooses below the ports that systems give to outgoing connections', async () => {
    expect(await choosePort({ isFree: free, random: () => 0 })).toBe(20_000);
    expect(await choosePort({ isFree: free, random: () => 0.999999 })).toBe(31_999);
  });

  it('reports that no port is free', async () => {
    await expect(choosePort({ isFree: () => Promise.resolve(false) })).rejects.toMatchObject({ code: 'no_free_port' });
  });
});
