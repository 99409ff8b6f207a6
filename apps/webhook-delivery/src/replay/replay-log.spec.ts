import { beforeEach, describe, expect, it } from '@jest/globals';
import type { OutgoingRecord } from '@waypost/streams';
import type { TransactionalProducer } from '@waypost/streams/admin';
import { flushed } from '../../../../test/support/until.js';
import { createReplayLog, type ReplayLog } from './replay-log.js';

let commits: { readonly keys: string[]; readonly end: (error?: Error) => void }[];
let failures: string[];
let log: ReplayLog;
let ended: string[];

beforeEach(() => {
  commits = [];
  failures = [];
  ended = [];
  const commit = ({ records }: Parameters<TransactionalProducer['commit']>[0]) =>
    new Promise<never>((resolve, reject) => {
      const keys = (records as readonly OutgoingRecord[]).map(({ key }) => String(key));
      commits.push({ keys, end: (error) => (error ? reject(error) : resolve(undefined as never)) });
    });
  const producer = { init: () => Promise.resolve(), commit, close: () => Promise.resolve() };
  log = createReplayLog({ producer, onFailure: ({ message }) => void failures.push(message) });
});

function record(key: string): OutgoingRecord {
  return { topic: 'progress', partition: 0, key: Buffer.from(key), value: null };
}

/** Notes how it ended. */
function write(...keys: string[]): void {
  const name = keys.join('+');
  log.write(keys.map(record)).then(
    () => ended.push(`${name} written`),
    (error: unknown) => ended.push(`${name} ${String(error)}`),
  );
}

async function endCommit(index: number, error?: Error): Promise<void> {
  commits[index]?.end(error);
  await flushed();
}

describe('the log of replays', () => {
  it('commits what is written at the same time in one transaction, one transaction after the other', async () => {
    write('a', 'b');
    write('c');
    await flushed();
    write('d');
    write('e');
    await flushed();
    expect(commits.map(({ keys }) => keys)).toEqual([['a', 'b', 'c']]);
    expect(ended).toEqual([]);
    await endCommit(0);
    expect(ended).toEqual(['a+b written', 'c written']);
    expect(commits.map(({ keys }) => keys)).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
    await endCommit(1);
    write('f');
    await flushed();
    expect(commits).toHaveLength(3);
  });

  it('rejects everything under way and everything after it once a transaction has failed', async () => {
    write('a');
    await flushed();
    write('b');
    await endCommit(0, new Error('fenced'));
    write('c');
    await flushed();
    expect(ended).toEqual(['a Error: fenced', 'b Error: fenced', 'c Error: fenced']);
    expect(failures).toEqual(['fenced']);
    expect(commits).toHaveLength(1);
  });

  it('is drained when no transaction is under way', async () => {
    await log.drained();
    write('a');
    const drained = log.drained().then(() => ended.push('drained'));
    await flushed();
    write('b');
    await endCommit(0);
    expect(ended).toEqual(['a written']);
    await endCommit(1);
    await drained;
    expect(ended).toEqual(['a written', 'b written', 'drained']);
  });
});
