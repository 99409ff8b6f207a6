import { StreamsError } from '../errors.js';
import { MAX_BATCH_BYTES } from '../protocol/record-collector.js';

interface SettingRule {
  readonly setting: string;
  readonly of: 'every topic' | 'changelogs';
  readonly isWrong: (value: string, settings: ReadonlyMap<string, string>) => boolean;
  readonly fix: string;
}

/** A checkpoint may be 20 hours old before it is discarded: what was deleted since then must still be in the log. */
const TOMBSTONES_FOR_MS = 24 * 3_600_000;

const RULES: readonly SettingRule[] = [
  {
    setting: 'cleanup.policy',
    of: 'changelogs',
    isWrong: (policy) => policy !== 'compact',
    fix: 'set it to compact, or state that is older than the retention is lost',
  },
  {
    setting: 'delete.retention.ms',
    of: 'changelogs',
    isWrong: (ms) => Number(ms) < TOMBSTONES_FOR_MS,
    fix: `set it to ${String(TOMBSTONES_FOR_MS)} or more, or a process that was away keeps what was deleted meanwhile`,
  },
  {
    setting: 'max.message.bytes',
    of: 'changelogs',
    isWrong: (bytes) => Number(bytes) < MAX_BATCH_BYTES,
    fix: `set it to ${String(MAX_BATCH_BYTES)} or more, or the changes of a large transaction are refused`,
  },
  {
    setting: 'message.timestamp.type',
    of: 'changelogs',
    isWrong: (type) => type !== 'CreateTime',
    fix: 'set it to CreateTime, or its records have the time of the broker and not that of the change',
  },
  {
    setting: 'min.insync.replicas',
    of: 'every topic',
    isWrong: (replicas, settings) => Number(replicas) > Number(settings.get('replication.factor') ?? Infinity),
    fix: 'it has fewer replicas, so nothing can be written: lower the setting, or add replicas',
  },
];

/** @throws {StreamsError} TOPIC_SETTINGS: the first setting that loses state or stops the writing, and its fix */
export function verifySettings(
  topic: string,
  role: string,
  isChangelog: boolean,
  settings: ReadonlyMap<string, string>,
): void {
  for (const { setting, of, isWrong, fix } of RULES) {
    const value = settings.get(setting);
    if (value === undefined || (of === 'changelogs' && !isChangelog) || !isWrong(value, settings)) continue;
    throw new StreamsError('TOPIC_SETTINGS', `The topic ${topic}, ${role}, has ${setting}=${value}: ${fix}.`);
  }
}
