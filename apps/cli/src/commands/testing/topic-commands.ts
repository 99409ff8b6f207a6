import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { openRecordPublisher } from '@waypost/platform/without-nest';
import { requireTestStack } from '../../../../../test/support/test-stack.js';
import { read, type ReadOptions } from '../read.js';

const { registryUrl } = requireTestStack();
const brokers = requireTestStack().brokers.join(',');
export const kafka = { brokers: brokers.split(','), clientId: 'topic-commands-test' };

export interface Line {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string;
  readonly value: Record<string, unknown> | null;
  readonly problem?: string;
  readonly valueBase64?: string;
}

/** A data directory as `npm start` leaves it, with the stack of the tests. */
export async function createDataDir() {
  const dataDir = await mkdtemp(join(tmpdir(), 'waypost-cli-'));
  const stack = { brokers, registryUrl, databaseUrl: 'postgres://unused', apiUrl: 'http://unused' };
  await writeFile(join(dataDir, 'stack.json'), JSON.stringify(stack));
  return { dataDir, remove: () => rm(dataDir, { recursive: true }) };
}

/** A terminal that keeps what commands print. */
export function createTerminal(dataDir: string) {
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

export async function writeTrack(dataDir: string, fleetDevices: readonly string[], pingsEach: number): Promise<string> {
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

export function newDevice(): string {
  return `device-${randomUUID()}`;
}

export async function append(
  topic: string,
  records: readonly (readonly [key: string, value: Buffer | null, headers?: Readonly<Record<string, string>>])[],
) {
  const publisher = await openRecordPublisher(kafka, topic);
  await publisher.publish(records.map(([key, value, headers = {}]) => ({ key: Buffer.from(key), value, headers })));
  await publisher.close();
}
