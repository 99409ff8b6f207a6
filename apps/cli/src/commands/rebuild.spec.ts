import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { CliError } from '../cli-error.js';
import { rebuildHistory } from './rebuild.js';

describe('the rebuild command', () => {
  it('deletes nothing unless it is told to, and says what it would do', async () => {
    const silent = new Writable({
      write: (_chunk, _encoding, done) => {
        done();
      },
    });
    const flags = { dataDir: '/nowhere', yes: false, watch: false, now: () => 0 };
    const refused = rebuildHistory({ out: silent, err: silent }, flags);

    await expect(refused).rejects.toThrow(/This deletes the history .* Say --yes to do so, or --watch/);
    await expect(refused).rejects.toMatchObject({ exitCode: 2 });
    await expect(refused).rejects.toBeInstanceOf(CliError);
  });
});
