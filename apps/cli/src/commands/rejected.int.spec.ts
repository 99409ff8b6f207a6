import { afterAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import type { RejectedTelemetry } from '@waypost/domain';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { openLog } from '../topic-reading/open-log.js';
import { listRejected, republishRejected } from './rejected.js';
import { append, createDataDir, createTerminal, newDevice } from './testing/topic-commands.js';

const { registryUrl } = requireTestStack();

const { dataDir, remove } = await createDataDir();
afterAll(remove);

const LEFT_OUT = '1 left out: republished before, and not rejected again\nrepublished 0\n';
const EVERYTHING = { ids: [], topic: null, reason: null, device: null, from: null, to: null };

describe('The quarantine on a real broker', () => {
  it('lists rejected pings, and publishes chosen ones again with their original key and bytes', async () => {
    const { lines, printed, terminal } = createTerminal(dataDir);
    const device = newDevice();
    const bytes = Buffer.from([0, 0, 0, 0, 99, 250]);
    const [first] = await reject(rejection(device, bytes), rejection(newDevice(), Buffer.from('other')));
    const selection = { ...EVERYTHING, device };
    await listRejected(terminal, { dataDir, selection });
    const listed = JSON.parse(printed()) as { id: string };
    expect(listed).toMatchObject({ key: device, reason: 'malformed', valueBase64: bytes.toString('base64') });
    expect(first).toBe(device);

    await republishRejected(terminal, { dataDir, selection: { ...selection, ids: [listed.id], device: null } });
    expect(printed()).toBe('republished 1\n');
    expect(await lines('telemetry.pings', { device })).toMatchObject([{ valueBase64: bytes.toString('base64') }]);
  });

  it('publishes nothing again for a corrupt batch that was skipped (R-45)', async () => {
    const { printed, terminal } = createTerminal(dataDir);
    const sourceTopic = newDevice();
    const batch = { ...rejection('', Buffer.alloc(0)), sourceTopic, sourceKey: null, sourceValue: null };
    const from = Date.now();
    await reject({ ...batch, reason: 'skipped' });
    const selection = { ...EVERYTHING, reason: 'skipped', from };
    await listRejected(terminal, { dataDir, selection });
    const listed =
      printed()
        .split('\n')
        .find((line) => line.includes(sourceTopic)) ?? '';
    const { id } = JSON.parse(listed) as { id: string };
    await republishRejected(terminal, { dataDir, selection: { ...selection, ids: [id] } });
    expect(printed()).toBe('republished 0\n');
  });

  it('sends a version again only while it is the newest of its key: nothing that was deleted comes back (R-17)', async () => {
    const { lines, printed, terminal } = createTerminal(dataDir);
    const topic = topics.webhookSubscriptions.name;
    const keys = [newDevice(), newDevice(), newDevice()] as const;
    const [deleted, changed, current] = keys;
    await append(
      topic,
      keys.map((key) => [key, Buffer.from('unreadable')]),
    );
    const valuesOf = async (key: string) =>
      (await lines(topic, { device: key })).map(({ valueBase64 = null }) => valueBase64);
    for (const key of keys) {
      const [stored] = await lines(topic, { device: key });
      await reject({
        ...rejection(key, Buffer.from('unreadable')),
        ...{ sourceTopic: topic, sourceOffset: stored?.offset ?? -1, sourceTimestamp: stored?.timestamp ?? -1 },
      });
    }
    await append(topic, [
      [deleted, null],
      [changed, Buffer.from('newer')],
    ]);
    printed();
    const said: string[] = [];
    for (const device of keys) {
      await republishRejected(terminal, { dataDir, selection: { ...EVERYTHING, device } });
      said.push(printed());
    }

    const superseded = /^superseded: \d+:\d+ \(webhook\.subscriptions-0 at offset \d+\), .*\nrepublished 0\n$/;
    expect(said).toEqual([expect.stringMatching(superseded), expect.stringMatching(superseded), 'republished 1\n']);
    const unreadable = base64('unreadable');
    expect(await valuesOf(deleted)).toEqual([unreadable, null]);
    expect(await valuesOf(changed)).toEqual([unreadable, base64('newer')]);
    expect(await valuesOf(current)).toEqual([unreadable, unreadable]);
  });

  it('finds each of the ids of a record that was rejected twice, and sends it once', async () => {
    const { lines, printed, terminal } = createTerminal(dataDir);
    const device = newDevice();
    const twice = rejection(device, Buffer.from('twice'));
    await reject(twice, twice);
    const found = await lines(topics.telemetryRejected.name, { device });
    const ids = found.map(({ partition, offset }) => `${String(partition)}:${String(offset)}`);
    expect(ids).toHaveLength(2);
    printed();
    await republishRejected(terminal, { dataDir, selection: { ...EVERYTHING, ids } });
    expect(printed()).toBe('republished 1\n');
  });

  it('sends no record again that an earlier run has sent and that is not rejected since, whichever ids it has', async () => {
    const { lines, printed, terminal } = createTerminal(dataDir);
    const device = newDevice();
    const twice = rejection(device, Buffer.from('accepted in the end'));
    await reject(twice, twice);
    const selection = { ...EVERYTHING, device };
    const [, second] = await lines(topics.telemetryRejected.name, { device });
    printed();
    await republishRejected(terminal, { dataDir, selection });
    expect(printed()).toBe('republished 1\n');
    const ids = [`${String(second?.partition)}:${String(second?.offset)}`];
    for (const repeated of [selection, { ...EVERYTHING, ids }]) {
      await republishRejected(terminal, { dataDir, selection: repeated });
      expect(printed()).toBe(LEFT_OUT);
    }
    expect(await headersOf(topics.telemetryPings.name, device)).toHaveLength(1);

    // Another record of the device, with other bytes, has not been sent.
    await reject(rejection(device, Buffer.from('another')));
    await republishRejected(terminal, { dataDir, selection });
    expect(printed()).toBe(LEFT_OUT.replace('republished 0', 'republished 1'));
  });

  it('counts a record once that is still rejected when it is published again, whatever it is rejected for', async () => {
    const { lines, printed, terminal } = createTerminal(dataDir);
    const device = newDevice();
    const original = { ...rejection(device, Buffer.from('still bad')), sourceOffset: 41, sourceTimestamp: 1_000 };
    await reject(original);
    const selection = { ...EVERYTHING, device };
    await republishRejected(terminal, { dataDir, selection });
    const headers = await headersOf(topics.telemetryPings.name, device);
    expect(headers).toEqual([{ 'waypost-republished-from': '41:1000' }]);

    // Its copy, for two reasons.
    const [sent] = await lines(topics.telemetryPings.name, { device });
    const copy = { ...original, sourceOffset: sent?.offset ?? NaN, sourceTimestamp: 2_000 };
    await rejectWith(headers[0] ?? {}, copy, { ...copy, reason: 'invalid_field' });
    expect(await lines(topics.telemetryRejected.name, { device })).toHaveLength(3);
    printed();
    await republishRejected(terminal, { dataDir, selection });
    expect(printed()).toBe('republished 1\n');
    const [, , another] = await lines(topics.telemetryRejected.name, { device });
    printed();
    const id = `${String(another?.partition)}:${String(another?.offset)}`;
    await republishRejected(terminal, { dataDir, selection: { ...EVERYTHING, ids: [id] } });
    expect(printed()).toBe(LEFT_OUT);
    const all = await headersOf(topics.telemetryPings.name, device);
    expect(all).toEqual([headers[0], headers[0]]);
    await listRejected(terminal, { dataDir, selection });
    expect(printed()).toMatch(/^.*"reason":"malformed".*\n.*"reason":"invalid_field".*\n$/);
  });

  it('sends a version again whose newest record is its own copy, if that was rejected too', async () => {
    const { lines, printed, terminal } = createTerminal(dataDir);
    const topic = topics.webhookSubscriptions.name;
    const key = newDevice();
    await append(topic, [[key, Buffer.from('unreadable')]]);
    const [stored] = await lines(topic, { device: key });
    const at = { sourceOffset: stored?.offset ?? -1, sourceTimestamp: stored?.timestamp ?? -1 };
    await reject({ ...rejection(key, Buffer.from('unreadable')), sourceTopic: topic, ...at });
    printed();
    const republish = () => republishRejected(terminal, { dataDir, selection: { ...EVERYTHING, device: key } });
    for (let times = 0; times < 2; times += 1) await republish();
    expect(printed()).toBe(`republished 1\n${LEFT_OUT}`);
    const [, copy] = await lines(topic, { device: key });
    const header = { 'waypost-republished-from': `${String(at.sourceOffset)}:${String(at.sourceTimestamp)}` };
    const ofCopy = { sourceTopic: topic, sourceOffset: copy?.offset ?? -1, sourceTimestamp: copy?.timestamp ?? -1 };
    await rejectWith(header, { ...rejection(key, Buffer.from('unreadable')), ...ofCopy });
    printed();
    await republish();
    expect(printed()).toBe('republished 1\n');
  });

  it('says how many it has sent when it fails', async () => {
    const { printed, terminal } = createTerminal(dataDir);
    const device = newDevice();
    const good = rejection(device, Buffer.from('good'));
    await reject(good, { ...good, sourceTopic: 'a topic that cannot exist' });
    const selection = { ...EVERYTHING, device };
    await expect(republishRejected(terminal, { dataDir, selection })).rejects.toThrow();
    expect(printed()).toBe('republished at least 1, then failed\n');
  });

  it('says which of the wanted rejected pings are not there', async () => {
    const { terminal } = createTerminal(dataDir);
    const selection = { ...EVERYTHING, ids: ['3:999999'] };
    await expect(republishRejected(terminal, { dataDir, selection })).rejects.toThrow('Not found: 3:999999');
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

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Writes as the processor would; returns the keys. */
function reject(...rejections: readonly RejectedTelemetry[]): Promise<string[]> {
  return rejectWith({}, ...rejections);
}

async function rejectWith(
  headers: Readonly<Record<string, string>>,
  ...rejections: readonly RejectedTelemetry[]
): Promise<string[]> {
  const codec = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) }).telemetryRejected;
  await codec.prepare();
  const keys = rejections.map((one) => one.sourceKey?.toString() ?? '');
  await append(
    topics.telemetryRejected.name,
    rejections.map((one, index) => [keys[index] ?? '', codec.encode(one), headers] as const),
  );
  return keys;
}

/** The headers of all records of a key. */
async function headersOf(topic: string, key: string): Promise<Record<string, string>[]> {
  const found: Record<string, string>[] = [];
  const log = openLog(await stackEnvironment(dataDir), topic);
  await log.read({ from: null, to: null, untilEnd: true }, ({ records }) => {
    for (const record of records.filter((one) => one.key?.toString() === key))
      found.push(Object.fromEntries(record.headers.map((header) => [header.key, String(header.value)])));
    return Promise.resolve();
  });
  await log.close();
  return found;
}
