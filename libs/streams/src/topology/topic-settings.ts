import type { StreamsBackend } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { MAX_BATCH_BYTES } from '../protocol/record-collector.js';

/** Every process reads a table in full, see global-table.ts. */
type TopicUse = 'changelog' | 'output' | 'table';

interface SettingRule {
  readonly setting: string;
  readonly of: readonly TopicUse[];
  readonly isWrong: (value: string, settings: ReadonlyMap<string, string>) => boolean;
  readonly fix: string;
  /** The setting loses nothing by itself: a warning is enough. */
  readonly warns?: true;
}

export interface CheckedTopic {
  readonly topic: string;
  readonly role: string;
  /** null: any settings will do. */
  readonly use: TopicUse | null;
}

/** A checkpoint may be 20 hours old before it is discarded: deletions since then must still be in the log. */
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
    of: ['changelog', 'output'],
    isWrong: (bytes) => Number(bytes) < MAX_BATCH_BYTES,
    fix: `set it to ${String(MAX_BATCH_BYTES)} or more, or large transactions are refused`,
  },
  {
    setting: 'min.insync.replicas',
    of: ['changelog', 'output', 'table'],
    isWrong: (replicas, settings) => Number(replicas) > Number(settings.get('replication.factor') ?? Infinity),
    fix: 'it has fewer replicas, so nothing can be written: lower the setting, or add replicas',
  },
  {
    setting: 'min.insync.replicas',
    of: ['changelog', 'output'],
    isWrong: (replicas, settings) => replicas === '1' && Number(settings.get('replication.factor')) >= 3,
    fix: 'set it to 2, or what is committed is lost with the only replica in sync',
    warns: true,
  },
];

/**
 * Logs doubtful settings, and once the topics whose settings this user may not read.
 * @returns the topics whose records get the time of the broker
 * @throws {StreamsError} TOPIC_SETTINGS: the first setting that loses state or prevents writing, and its fix
 */
export async function verifySettings(
  topics: readonly CheckedTopic[],
  { backend, logger }: { readonly backend: Pick<StreamsBackend, 'topicSettings'>; readonly logger: StreamsLogger },
): Promise<Set<string>> {
  const unread: string[] = [];
  const byAppendTime = new Set<string>();
  for (const used of topics) {
    if (used.use === null) continue;
    const settings = await backend.topicSettings(used.topic);
    if (!settings) unread.push(used.topic);
    else verify(used, settings, logger);
    if (settings?.get('message.timestamp.type') === 'LogAppendTime') byAppendTime.add(used.topic);
  }
  if (unread.length > 0)
    logger.warn('topic_settings_unread', { topics: unread, fix: 'Grant this user DESCRIBE_CONFIGS on them.' });
  return byAppendTime;
}

function verify(
  { topic, role, use }: CheckedTopic,
  settings: ReadonlyMap<string, string>,
  logger: StreamsLogger,
): void {
  for (const { setting, of, isWrong, fix, warns } of RULES) {
    const value = settings.get(setting);
    if (value === undefined || use === null || !of.includes(use) || !isWrong(value, settings)) continue;
    const message = `The topic ${topic}, ${role}, has ${setting}=${value}: ${fix}.`;
    if (!warns) throw new StreamsError('TOPIC_SETTINGS', message);
    logger.warn('topic_setting_doubtful', { topic, setting, value, message });
  }
}
