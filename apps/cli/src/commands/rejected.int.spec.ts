import { afterAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import type { RejectedTelemetry } from '@waypost/domain';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { listRejected, republishRejected } from './rejected.js';
import { append, createDataDir, createTerminal, newDevice } from './testing/topic-commands.js';

const { registryUrl } = requireTestStack();

const { dataDir, remove } = await createDataDir();
afterAll(remove);

describe('The quarantine on a real broker', () => {
  it('lists rejected pings, and publishes chosen ones again with their original key and bytes', async () => {
    const { lines, printed, terminal } = createTerminal(dataDir);
    const device = newDevice();
    const bytes = Buffer.from([0, 0, 0, 0, 99, 250]);
    const [first] = await reject(rejection(device, bytes), rejection(newDevice(), Buffer.from('other')));
    const selection = { ids: [], topic: null, reason: null, device, from: null, to: null };
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
    const selection = { ids: [], topic: null, reason: 'skipped', device: null, from, to: null };
    await listRejected(terminal, { dataDir, selection });
    const listed =
      printed()
        .split('\n')
        .find((line) => line.includes(sourceTopic)) ?? '';
    const { id } = JSON.parse(listed) as { id: string };
    await republishRejected(terminal, { dataDir, selection: { ...selection, ids: [id] } });
    expect(printed()).toBe('republished 0\n');
  });

  it('says which of the wanted rejected pings are not there', async () => {
    const { terminal } = createTerminal(dataDir);
    const selection = { ids: ['3:999999'], topic: null, reason: null, device: null, from: null, to: null };
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
