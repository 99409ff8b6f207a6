import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { createAvroCodecs, createSchemaRegistry, type RejectedTelemetry, setUpKafka, topics } from '@waypost/contracts';
import { connectKafka, openRecordPublisher, openTopicAdmin } from '@waypost/streams';
import { subscriptionOf } from '../../../../test/support/samples.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { stackSource } from '../stack/stack-connections.js';
import { publish } from './publish.js';
import { read, type ReadOptions } from './read.js';
import { listRejected, republishRejected } from './rejected.js';
import { parkedSubscriptions } from './wait.js';

const brokers = requireTestStack().brokers.join(',');
const { registryUrl } = requireTestStack();
const kafka = { brokers: brokers.split(','), clientId: 'topic-commands-test' };

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'waypost-cli-'));
  const stack = { brokers, registryUrl, databaseUrl: 'postgres://unused', apiUrl: 'http://unused' };
  await writeFile(join(dataDir, 'stack.json'), JSON.stringify(stack));
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: 4, replicationFactor: 1 });
  await admin.close();
});
afterAll(() => rm(dataDir, { recursive: true }));

interface Line {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string;
  readonly value: Record<string, unknown> | null;
  readonly problem?: string;
  readonly valueBase64?: string;
}

function build() {
  const chunks: string[] = [];
  const out = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk.toString());
      done();
    },
  });
  const terminal = { out, err: out };
  const printed = (): string => chunks.splice(0).join('');
  const lines = async (topic: string, more: Partial<ReadOptions> = {}): Promise<Line[]> => {
    printed();
    const everything = { from: null, to: null, device: null, type: null, untilEnd: true };
    await read(terminal, { dataDir, topic, ...everything, ...more });
    return printed()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  };
  return { lines, printed, terminal };
}

async function writeTrack(fleetDevices: readonly string[], pingsEach: number): Promise<string> {
  const rows = Array.from({ length: pingsEach }, (_, index) =>
    fleetDevices.map((deviceId) => ({
      deviceId,
      eventTime: new Date(1_760_000_000_000 + index * 1_000).toISOString(),
      seq: index,
    })),
  ).flat();
  const file = join(dataDir, `${randomUUID()}.ndjson`);
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  return file;
}

function newDevice(): string {
  return `device-${randomUUID()}`;
}
const publishDefaults = { shiftToNow: false, keepReceivedTime: false, rate: null, now: Date.now };

describe('Publishing and reading on a real broker', () => {
  it('returns published records decoded, in the order of each device', async () => {
    const { lines, printed, terminal } = build();
    const devices = [newDevice(), newDevice(), newDevice()];
    await publish(terminal, { ...publishDefaults, dataDir, file: await writeTrack(devices, 900), fleet: 'f' });
    expect(printed()).toBe('published 2700\n');
    for (const device of devices) {
      const found = await lines('telemetry.pings', { device });
      expect(found.map((line) => line.value?.['sequence'])).toEqual(Array.from({ length: 900 }, (_, index) => index));
      expect(new Set(found.map((line) => `${line.key} ${String(line.partition)}`)).size).toBe(1);
    }
  });

  it('shifts a recording so that its newest ping is from now', async () => {
    const { lines, terminal } = build();
    const device = newDevice();
    const nowMs = Date.now();
    const file = await writeTrack([device], 3);
    await publish(terminal, { ...publishDefaults, dataDir, file, fleet: 'f', shiftToNow: true, now: () => nowMs });
    const times = (await lines('telemetry.pings', { device })).map((line) => line.value?.['eventTime']);
    expect(times).toEqual([nowMs - 2_000, nowMs - 1_000, nowMs]);
  });

  it('writes the same records as CSV and Parquet files, and resumes an interrupted one', async () => {
    const { lines, terminal } = build();
    const device = newDevice();
    await publish(terminal, { ...publishDefaults, dataDir, file: await writeTrack([device], 50), fleet: 'f' });
    const sequences = (await lines('telemetry.pings', { device })).map((line) => line.value?.['sequence']);
    const range = { dataDir, topic: 'telemetry.pings', from: null, to: null, device, type: null, untilEnd: true };
    const csv = join(dataDir, 'pings.csv');
    // As a killed export leaves it: the header is written, nothing is read yet, and something half written follows.
    const query = { topic: range.topic, format: 'csv', from: null, to: null, device, type: null, untilEnd: true };
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

  it('gives committed records only, and ends behind the markers of transactions', async () => {
    const { lines } = build();
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

  it('lists rejected pings, and publishes chosen ones again with their original key and bytes', async () => {
    const { lines, printed, terminal } = build();
    const device = newDevice();
    const bytes = Buffer.from([0, 0, 0, 0, 99, 250]);
    const [first] = await reject(rejection(device, bytes), rejection(newDevice(), Buffer.from('other')));
    const selection = { ids: [], reason: null, device, from: null, to: null };
    await listRejected(terminal, { dataDir, selection });
    const listed = JSON.parse(printed()) as { id: string };
    expect(listed).toMatchObject({ key: device, reason: 'malformed', valueBase64: bytes.toString('base64') });
    expect(first).toBe(device);

    await republishRejected(terminal, { dataDir, selection: { ...selection, ids: [listed.id], device: null } });
    expect(printed()).toBe('republished 1\n');
    expect(await lines('telemetry.pings', { device })).toMatchObject([{ valueBase64: bytes.toString('base64') }]);
  });

  it('says which of the wanted rejected pings are not there', async () => {
    const { terminal } = build();
    const selection = { ids: ['3:999999'], reason: null, device: null, from: null, to: null };
    await expect(republishRejected(terminal, { dataDir, selection })).rejects.toThrow('Not found: 3:999999');
  });
});

describe('Waiting until idle', () => {
  it('counts subscriptions that are parked, and not those that wait for a probe or for their owner', async () => {
    const now = Date.now();
    const state = { foldFrom: 0, failingSince: null, suspendedAt: null, failedDays: [], updatedAt: now };
    const id = (what: string): string => `${what}-${randomUUID()}`;
    const [busy, done, suspended, paused] = [id('busy'), id('done'), id('suspended'), id('paused')];
    const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
    await Promise.all([codecs.subscriptionState.prepare(), codecs.webhookSubscriptions.prepare()]);
    const parked = (subscriptionId: string, more = {}): readonly [string, Buffer] => [
      subscriptionId,
      codecs.subscriptionState.encode({ ...state, subscriptionId, parkedFrom: 1, ...more }),
    ];
    await append(topics.subscriptionState.name, [
      ...[parked(busy), parked(done), parked(suspended, { suspendedAt: now }), parked(paused)],
      [done, null],
    ]);
    const subscription = subscriptionOf({ id: paused, status: 'paused' });
    await append(topics.webhookSubscriptions.name, [[paused, codecs.webhookSubscriptions.encode(subscription)]]);
    const found = await parkedSubscriptions(await stackEnvironment(dataDir));
    expect(found.filter((one) => [busy, done, suspended, paused].includes(one))).toEqual([busy]);
  });
});

function rejection(device: string, sourceValue: Buffer): RejectedTelemetry {
  return {
    sourceTopic: 'telemetry.pings',
    sourcePartition: 0,
    sourceOffset: 1,
    sourceTimestamp: 2,
    sourceKey: Buffer.from(device),
    sourceValue,
    reason: 'malformed',
    detail: null,
  };
}

/** Writes as the processor would; returns the keys. */
async function reject(...rejections: readonly RejectedTelemetry[]): Promise<string[]> {
  const codec = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) }).telemetryRejected;
  await codec.prepare();
  const keys = rejections.map((one) => one.sourceKey?.toString() ?? '');
  await append(
    topics.telemetryRejected.name,
    rejections.map((one, index) => [keys[index] ?? '', codec.encode(one)] as const),
  );
  return keys;
}

async function append(topic: string, records: readonly (readonly [key: string, value: Buffer | null])[]) {
  const publisher = await openRecordPublisher(kafka, topic);
  await publisher.publish(records.map(([key, value]) => ({ key: Buffer.from(key), value })));
  await publisher.close();
}
