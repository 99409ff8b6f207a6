import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { CliError } from '../terminal/output.js';
import { rebuildHistory } from './rebuild.js';

describe('the rebuild command', () => {
  it('deletes nothing without --yes, and lists what it would delete', async () => {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const flags = { dataDir: '/nowhere', yes: false, watch: false, withoutEarlier: false, now: () => 0 };
    const refused = rebuildHistory({ out: silent, err: silent }, flags);

    await expect(refused).rejects.toThrow(/This deletes the history .* Pass --yes to do it, or --watch/);
    await expect(refused).rejects.toMatchObject({ exitCode: 2 });
    await expect(refused).rejects.toBeInstanceOf(CliError);
  });
});
