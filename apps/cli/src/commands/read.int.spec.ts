import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { connectKafka } from '@waypost/streams/admin';
import { stackEnvironment } from '../stack/stack-config.js';
import { stackSource } from '../stack/stack-connections.js';
import { publish } from './publish.js';
import { read } from './read.js';
import { append, createDataDir, createTerminal, kafka, newDevice, writeTrack } from './testing/topic-commands.js';

const { dataDir, remove } = await createDataDir();
afterAll(remove);

const publishDefaults = { shiftToNow: false, keepReceivedTime: false, rate: null, now: Date.now };

describe('Publishing and reading on a real broker', () => {
  it('returns published records decoded, in the order of each device', async () => {
    const { lines, printed, terminal } = createTerminal(dataDir);
    const devices = [newDevice(), newDevice(), newDevice()];
    await publish(terminal, { ...publishDefaults, dataDir, file: await writeTrack(dataDir, devices, 900), fleet: 'f' });
    expect(printed()).toBe('published 2700\n');
    for (const device of devices) {
      const found = await lines('telemetry.pings', { device });
      expect(found.map((line) => line.value?.['sequence'])).toEqual(Array.from({ length: 900 }, (_, index) => index));
      expect(new Set(found.map((line) => `${line.key} ${String(line.partition)}`)).size).toBe(1);
    }
  });

  it('writes the same records as CSV and Parquet files, and resumes an interrupted one', async () => {
    const { lines, terminal } = createTerminal(dataDir);
    const device = newDevice();
    await publish(terminal, { ...publishDefaults, dataDir, file: await writeTrack(dataDir, [device], 50), fleet: 'f' });
    const sequences = (await lines('telemetry.pings', { device })).map((line) => line.value?.['sequence']);
    const range = { dataDir, topic: 'telemetry.pings', from: null, to: null, device, type: null, untilEnd: true };
    const csv = join(dataDir, 'pings.csv');
    // As a killed export leaves it: the header is written, nothing is read yet, and something half written follows.
    const query = {
      topic: range.topic,
      format: 'csv',
      from: null,
      to: null,
      device,
      type: null,
      untilEnd: true,
      escapesFormulas: true,
    };
    await read(terminal, { ...range, format: 'csv', output: csv });
    const whole = await readFile(csv, 'utf8');
    const header = whole.slice(0, whole.indexOf('\n') + 1);
    await writeFile(csv, `${header}t,1,2,half`);
    const stack = await stackEnvironment(dataDir);
    const source = await stackSource(stack, dataDir);
    expect(source).toMatch(/^Kafka cluster \S+ of /);
    const progress = { query: JSON.stringify(query), source, bytes: header.length, records: 0, positions: {} };
    await writeFile(`${csv}.progress.json`, JSON.stringify(progress));
    await read(terminal, { ...range, format: 'csv', output: csv, resume: true });
    expect(await readFile(csv, 'utf8')).toBe(whole);
    const column = header.trimEnd().split(',').indexOf('sequence');
    const rows = whole.trimEnd().split('\n').slice(1);
    expect(rows.map((row) => Number(row.split(',')[column]))).toEqual(sequences);
    const parquet = join(dataDir, 'pings.parquet');
    await read(terminal, { ...range, format: 'parquet', output: parquet });
    const read50 = await parquetReadObjects({ file: await asyncBufferFromFile(parquet) });
    expect(read50.map(({ sequence }) => Number(sequence))).toEqual(sequences);
  });

  it('gives committed records only, and ends after the markers of transactions', async () => {
    const { lines } = createTerminal(dataDir);
    const [kept, dropped] = [newDevice(), newDevice()];
    const producer = connectKafka(kafka).producer({
      transactionalId: randomUUID(),
      maxInFlightRequests: 1,
      idempotent: true,
    });
    await producer.connect();
    const send = async (key: string) => {
      const transaction = await producer.transaction();
      await transaction.send({ topic: 'telemetry.pings', messages: [{ key, value: Buffer.from('x') }] });
      return transaction;
    };
    await (await send(kept)).commit();
    await (await send(dropped)).abort();
    await producer.disconnect();
    const keys = (await lines('telemetry.pings')).map((line) => line.key);
    expect(keys).toContain(kept);
    expect(keys).not.toContain(dropped);
  });

  it('ends before --to in a compacted topic, which it reads to its end', async () => {
    const { lines } = createTerminal(dataDir);
    const [topic, device] = ['webhook.subscriptions', newDevice()];
    for (const value of ['first', 'second', 'third']) await append(topic, [[device, Buffer.from(value)]]);
    const all = await lines(topic, { device });
    const to = all.at(-1)?.timestamp ?? 0;
    const earlier = all.filter(({ timestamp }) => timestamp < to);
    expect(await lines(topic, { device, to, untilEnd: false })).toEqual(earlier);
  });
});
