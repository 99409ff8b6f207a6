import { afterAll, describe, expect, it } from '@jest/globals';
import { publish } from './publish.js';
import { createDataDir, createTerminal, newDevice, writeTrack } from './testing/topic-commands.js';

const { dataDir, remove } = await createDataDir();
afterAll(remove);

describe('Publishing on a real broker', () => {
  it('shifts a recording so that its newest ping is from now', async () => {
    const { lines, terminal } = createTerminal(dataDir);
    const device = newDevice();
    const nowMs = Date.now();
    const file = await writeTrack(dataDir, [device], 3);
    await publish(terminal, {
      dataDir,
      file,
      fleet: 'f',
      shiftToNow: true,
      keepReceivedTime: false,
      rate: null,
      now: () => nowMs,
    });
    const times = (await lines('telemetry.pings', { device })).map((line) => line.value?.['eventTime']);
    expect(times).toEqual([nowMs - 2_000, nowMs - 1_000, nowMs]);
  });
});
