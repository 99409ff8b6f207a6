import { describe, expect, it } from '@jest/globals';
import type { PublishedRecord } from '@waypost/platform/without-nest';
import type { RejectedRecord } from './rejected-records.js';
import { createRepublisher } from './republisher.js';

function rejected(sourceTopic: string, sourcePartition: number, offset: number): RejectedRecord {
  const origin = { offset, timestamp: 1_000 };
  const sourceKey = Buffer.from('van-1');
  const source = { sourceTopic, sourcePartition, sourceOffset: 77, sourceTimestamp: 2_000, sourceKey };
  return {
    id: '0:1',
    rejectedAt: 3_000,
    telemetry: { ...source, sourceValue: Buffer.from(`ping ${String(offset)}`), reason: 'malformed', detail: 'cut' },
    origin,
    originName: String(offset),
  };
}

/** What was sent to each topic, and which topics are open. */
function build() {
  const sent: Record<string, string[]> = {};
  const open = new Set<string>();
  const republisher = createRepublisher((topic) => {
    open.add(topic);
    const show = ({ partition, key, value, headers }: PublishedRecord) =>
      `${String(partition)} ${String(key)} ${String(value)} ${JSON.stringify(headers)}`;
    return Promise.resolve({
      publish: (records) => Promise.resolve(void (sent[topic] ??= []).push(...records.map(show))),
      keepsTimeOf: () => Promise.resolve(true),
      close: () => Promise.resolve(void open.delete(topic)),
    });
  });
  return { sent, open, republisher };
}

describe('Rejected records that are sent again (R-2)', () => {
  it('go with key, bytes and origin to the partition that they came from, wherever their key would go', async () => {
    const { sent, open, republisher } = build();
    const records = [rejected('pings', 2, 5), rejected('attempts', 0, 6), rejected('pings', 0, 7)];
    for (const record of records) await republisher.add(record);
    expect([sent, republisher.count()]).toEqual([{}, 0]);
    await republisher.flush();

    expect(sent).toEqual({
      pings: [
        '2 van-1 ping 5 {"waypost-republished-from":"5:1000"}',
        '0 van-1 ping 7 {"waypost-republished-from":"7:1000"}',
      ],
      attempts: ['0 van-1 ping 6 {"waypost-republished-from":"6:1000"}'],
    });
    expect(republisher.count()).toBe(3);
    await republisher.close();
    expect(open.size).toBe(0);
  });

  it('go in portions, so that they are not all in memory', async () => {
    const { sent, republisher } = build();
    for (let offset = 0; offset < 501; offset += 1) await republisher.add(rejected('pings', 0, offset));
    expect([sent['pings']?.length, republisher.count()]).toEqual([500, 500]);
    await republisher.flush();
    expect([sent['pings']?.length, republisher.count()]).toEqual([501, 501]);
  });
});
