import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { ok, problem } from './finding.js';
import { writeFindings } from './write-findings.js';

const KAFKA = [problem('kafka', 'down: broker 3', 'Start it.')];
const DATABASE = [ok('database', 'PostgreSQL 16')];
const KAFKA_LINES = 'problem  kafka     down: broker 3\n         Start it.\n';

function written(out: PassThrough): string {
  return String(out.read() ?? '');
}

function later<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe('The doctor, of several parts (R-40)', () => {
  it('writes what it knows of one while it waits for the next', async () => {
    const out = new PassThrough();
    const database = later<typeof DATABASE>();
    const problems = writeFindings(out, [Promise.resolve(KAFKA), database.promise]);
    await until(() => expect(written(out)).toBe(KAFKA_LINES));
    database.resolve(DATABASE);
    expect(await problems).toBe(1);
    expect(written(out)).toBe('ok       database  PostgreSQL 16\n');
  });

  it('writes them in the same order, whichever is known first', async () => {
    const out = new PassThrough();
    const kafka = later<typeof KAFKA>();
    const problems = writeFindings(out, [kafka.promise, Promise.resolve(DATABASE)]);
    kafka.resolve(KAFKA);
    await problems;
    expect(written(out)).toBe(`${KAFKA_LINES}ok       database  PostgreSQL 16\n`);
  });

  it('writes the others before it fails with the error of one', async () => {
    const out = new PassThrough();
    const bug = new Error('a bug');
    await expect(writeFindings(out, [Promise.reject(bug), Promise.resolve(KAFKA)])).rejects.toBe(bug);
    expect(written(out)).toBe(KAFKA_LINES);
  });
});
