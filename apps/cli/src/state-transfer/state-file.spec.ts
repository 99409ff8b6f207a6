import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { topics } from '@waypost/contracts';
import { countStateRecords, readStateFile, StateFileWriter, type StateRecord } from './state-file.js';

const RECORDS: readonly StateRecord[] = [
  { topic: topics.fleetSettings.name, key: 'fleet-a', timestamp: 1, value: Buffer.from([0, 0, 0, 0, 9, 1, 255]) },
  { topic: topics.fleetGeofences.name, key: 'fleet-a\u001ffence "1"\n', timestamp: 2, value: null },
];

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waypost-state-file-'));
  path = join(folder, 'state.ndjson');
});
afterEach(() => rm(folder, { recursive: true }));

async function write(records: readonly StateRecord[] = RECORDS): Promise<void> {
  const writer = await StateFileWriter.create(path);
  await writer.write(records);
  await writer.finish();
}

async function read(): Promise<StateRecord[]> {
  const records: StateRecord[] = [];
  for await (const record of readStateFile(path)) records.push(record);
  return records;
}

describe('a state file', () => {
  it('holds every record as it was, tombstones too, in order', async () => {
    await write();
    expect(await read()).toEqual(RECORDS);
    expect(await countStateRecords(path)).toBe(RECORDS.length);
  });

  it('is for its owner only, since it has the positions of vehicles', async () => {
    await write();
    expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it('is not there before it is whole', async () => {
    const writer = await StateFileWriter.create(path);
    await writer.write(RECORDS);
    await writer.abandon();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is refused after being cut off anywhere', async () => {
    await write();
    const text = await readFile(path, 'utf8');
    for (let length = 0; length < text.length - 1; length += 1) {
      await writeFile(path, text.slice(0, length));
      await expect(countStateRecords(path)).rejects.toThrow(/is not whole|is no file of "state export"/);
    }
  });

  it('is refused with a line missing, or more after its end', async () => {
    await write();
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    await writeFile(path, lines.filter((_, index) => index !== 1).join('\n'));
    await expect(countStateRecords(path)).rejects.toThrow('is not whole');
    await writeFile(path, [...lines, lines[1]].join('\n'));
    await expect(countStateRecords(path)).rejects.toThrow('goes on after its last line');
  });

  it('is refused by a version with another schema, which could not read its values', async () => {
    await write();
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(/("fleet\.geofences":")[0-9a-f]{4}/, '$10000'));
    await expect(countStateRecords(path)).rejects.toThrow('another schema of fleet.geofences');
  });

  it('is refused with records of a topic that does not move', async () => {
    await write([{ topic: topics.fleetEvents.name, key: 'van-1', timestamp: 3, value: null }]);
    await expect(countStateRecords(path)).rejects.toThrow(`has records of ${topics.fleetEvents.name}`);
  });
});
