import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { AvroRecord } from '@waypost/contracts';
import type { DecodedRecord } from '../log/decode-batch.js';
import { columnsOf } from './columns.js';
import { csvFormat, ndjsonFormat } from './export-format.js';
import { writeParquet } from './parquet-file.js';
import { openResumable, type ResumableOptions } from './resumable-file.js';

const TIME = Date.UTC(2026, 2, 1, 10, 0, 0, 250);

const schema: AvroRecord = {
  type: 'record',
  name: 'Sample',
  fields: [
    { name: 'deviceId', type: 'string' },
    { name: 'eventTime', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'speed', type: ['null', 'double'] },
    { name: 'count', type: ['null', 'long'] },
    { name: 'ignition', type: ['null', 'boolean'] },
    { name: 'tags', type: { type: 'map', values: 'string' } },
    { name: 'place', type: ['null', { type: 'record', name: 'Place', fields: [{ name: 'lat', type: 'double' }] }] },
    { name: 'raw', type: ['null', 'bytes'] },
  ],
};
const columns = columnsOf(schema);

function record(offset: number, value: object | null, more: object = {}): DecodedRecord {
  return { topic: 't', partition: 1, offset, timestamp: TIME, key: 'bus-7', value, ...more };
}

const full = record(7, {
  deviceId: 'bus "7",\nnorth',
  eventTime: TIME,
  speed: 0,
  count: 9_007_199_254_740_991,
  ignition: false,
  tags: { a: '1' },
  place: { lat: 48.5 },
  raw: Buffer.from([1, 2, 255]),
});
const empty = record(8, {
  deviceId: '',
  eventTime: 0,
  speed: null,
  count: null,
  ignition: null,
  tags: {},
  place: null,
});
const broken = record(9, null, { problem: 'malformed: cut short', valueBase64: 'AAAA' });

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'waypost-export-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('The columns of a topic (R-39)', () => {
  it('are the position of the record, then the fields of its schema, then the reason it could not be read', () => {
    expect(columns.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      ...['record_topic text', 'record_partition integer', 'record_offset long', 'record_time time', 'record_key text'],
      ...['deviceId text', 'eventTime time', 'speed number', 'count long', 'ignition boolean', 'tags json'],
      ...['place.lat number', 'raw bytes', 'record_problem text', 'record_value_base64 text'],
    ]);
  });
});

describe('CSV', () => {
  it('quotes where needed, writes readable times, distinguishes 0 and false from null', () => {
    const csv = csvFormat(columns);
    expect(csv.header.trimEnd().split(',')).toHaveLength(columns.length);
    expect(csv.textOf([full])).toBe(
      't,1,7,2026-03-01T10:00:00.250Z,bus-7,"bus ""7"",\nnorth",2026-03-01T10:00:00.250Z,0,9007199254740991,false,' +
        '"{""a"":""1""}",48.5,AQL/,,\n',
    );
    expect(csv.textOf([empty, broken])).toBe(
      't,1,8,2026-03-01T10:00:00.250Z,bus-7,,1970-01-01T00:00:00.000Z,,,,{},,,,\n' +
        't,1,9,2026-03-01T10:00:00.250Z,bus-7,,,,,,,,,malformed: cut short,AAAA\n',
    );
  });
});

describe('Parquet', () => {
  it('gives every value back in its own type, read by the public reader', async () => {
    const from = join(dir, 'spool.ndjson');
    const to = join(dir, 'out.parquet');
    await writeFile(from, ndjsonFormat.textOf([full, empty, broken]));
    await writeParquet({ from, to, columns }, () => undefined);
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(to), utf8: false });
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({
      record_offset: 7n,
      record_time: new Date(TIME),
      deviceId: 'bus "7",\nnorth',
      speed: 0,
      ignition: false,
      count: 9_007_199_254_740_991n,
      tags: { a: '1' },
      'place.lat': 48.5,
      raw: new Uint8Array([1, 2, 255]),
    });
    expect(rows[1]).toMatchObject({ deviceId: '', speed: null, count: null, ignition: null, 'place.lat': null });
    expect(rows[2]).toMatchObject({ deviceId: null, record_problem: 'malformed: cut short' });
  });

  it('is a file with columns even without records', async () => {
    const from = join(dir, 'spool.ndjson');
    const to = join(dir, 'out.parquet');
    await writeFile(from, '');
    await writeParquet({ from, to, columns }, () => undefined);
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(to) })).toEqual([]);
  });
});

describe('A file that can be gone on with', () => {
  const options = (more: Partial<ResumableOptions> = {}): ResumableOptions => ({
    file: join(dir, 'out.csv'),
    query: 'q',
    source: 'here',
    header: 'h\n',
    resume: true,
    now: () => 0,
    ...more,
  });
  const part = (partition: number, nextOffset: number) => ({ partition, nextOffset, records: 1 });

  it('loses and repeats nothing, wherever the process ended', async () => {
    let time = 0;
    const first = await openResumable(options({ now: () => (time += 1_000) }));
    await first.append('a\n', part(0, 5));
    await first.append('b\n', part(1, 9));
    time = -Infinity; // From here on nothing is saved: the process is killed with a batch half counted.
    await first.append('c\n', part(1, 12));
    const second = await openResumable(options());
    expect([...second.positions]).toEqual([
      [0, 5],
      [1, 9],
    ]);
    expect(second.records).toBe(2);
    await second.append('c\n', part(1, 12));
    await second.close();
    await second.forget();
    expect(await readFile(join(dir, 'out.csv'), 'utf8')).toBe('h\na\nb\nc\n');
  });

  it('starts over without --resume, and when there is nothing to resume', async () => {
    await writeFile(join(dir, 'out.csv'), 'something old and long');
    for (const resume of [false, true]) {
      const file = await openResumable(options({ resume }));
      expect(file.positions.size).toBe(0);
      await file.close();
      await file.forget();
      expect(await readFile(join(dir, 'out.csv'), 'utf8')).toBe('h\n');
    }
  });

  it('refuses to resume with another query or a truncated file', async () => {
    const file = await openResumable(options());
    await file.close();
    await expect(openResumable(options({ query: 'other' }))).rejects.toThrow('other options');
    await writeFile(join(dir, 'out.csv'), '');
    await expect(openResumable(options())).rejects.toThrow('shorter');
  });

  it('refuses to resume with the positions of another stack, and names both', async () => {
    const file = await openResumable(options());
    await file.close();
    const refused = openResumable(options({ source: 'there' }));
    await expect(refused).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(/here.*there/) });
  });
});
