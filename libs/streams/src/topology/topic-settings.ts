import { StreamsError } from '../errors.js';
import { MAX_BATCH_BYTES } from '../protocol/record-collector.js';

/** A table is read in full by every process, see global-table.ts. */
type TopicUse = 'changelog' | 'output' | 'table';

interface SettingRule {
  readonly setting: string;
  readonly of: readonly TopicUse[];
  readonly isWrong: (value: string, settings: ReadonlyMap<string, string>) => boolean;
  readonly fix: string;
}

/** A checkpoint may be 20 hours old before it is discarded: what was deleted since then must still be in the log. */
const TOMBSTONES_FOR_MS = 24 * 3_600_000;

const RULES: readonly SettingRule[] = [
  {
    setting: 'cleanup.policy',
    of: ['changelog', 'table'],
    isWrong: (policy) => policy !== 'compact',
    fix: 'set it to compact, or state that is older than the retention is lost',
  },
  {
    setting: 'delete.retention.ms',
    of: ['changelog'],
    isWrong: (ms) => Number(ms) < TOMBSTONES_FOR_MS,
    fix: `set it to ${String(TOMBSTONES_FOR_MS)} or more, or a process that was away keeps what was deleted meanwhile`,
  },
  {
    setting: 'max.message.bytes',
    of: ['changelog'],
    isWrong: (bytes) => Number(bytes) < MAX_BATCH_BYTES,
    fix: `set it to ${String(MAX_BATCH_BYTES)} or more, or the changes of a large transaction are refused`,
  },
  {
    setting: 'min.insync.replicas',
    of: ['changelog', 'output', 'table'],
    isWrong: (replicas, settings) => Number(replicas) > Number(settings.get('replication.factor') ?? Infinity),
    fix: 'it has fewer replicas, so nothing can be written: lower the setting, or add replicas',
  },
];

/** @throws {StreamsError} TOPIC_SETTINGS: the first setting that loses state or stops the writing, and its fix */
export function verifySettings(
  topic: string,
  role: string,
  use: TopicUse,
  settings: ReadonlyMap<string, string>,
): void {
  for (const { setting, of, isWrong, fix } of RULES) {
    const value = settings.get(setting);
    if (value === undefined || !of.includes(use) || !isWrong(value, settings)) continue;
    throw new StreamsError('TOPIC_SETTINGS', `The topic ${topic}, ${role}, has ${setting}=${value}: ${fix}.`);
  }
}
