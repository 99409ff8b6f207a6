import { timesCount } from '@waypost/contracts';
import { type Finding, ok, problem, warning } from './finding.js';
import { isSetUp, type KafkaScope, type ScopedTopic } from './kafka-scope.js';
import { checkPartitions } from './partition-checks.js';

export interface FoundTopic {
  readonly partitions: number;
  /** The replicas of the partition that has the fewest. */
  readonly replicas: number;
  /** The replicas in sync of the partition with a leader that has the fewest; null: none has a leader. */
  readonly inSync: number | null;
  /** Partitions that cannot be read or written at the moment. */
  readonly leaderless: number;
  /** Partitions of which a replica is not in sync. */
  readonly behind: number;
  readonly configs: ReadonlyMap<string, string>;
}

/** Settings that change what is kept, in which order, and what fits; the others only cost time. */
const VITAL = [
  'cleanup.policy',
  'message.timestamp.type',
  'max.message.bytes',
  'retention.ms',
  'retention.bytes',
  'min.compaction.lag.ms',
  'delete.retention.ms',
  'segment.ms',
];
const AT_LEAST = ['max.message.bytes', 'retention.ms', 'min.compaction.lag.ms', 'delete.retention.ms'];
/** A file is deleted or compacted as a whole, so records are read for that much longer. */
const AT_MOST = ['segment.ms'];
const MIN_IN_SYNC = 'min.insync.replicas';
const ABOUT = 'kafka';

/** Topics that are there already must be what a set-up would have made. Missing ones are for the set-up. */
export function checkTopics(scope: Omit<KafkaScope, 'readable'>, found: ReadonlyMap<string, FoundTopic>): Finding[] {
  const counts = new Map([...found].map(([name, { partitions }]) => [name, partitions]));
  const findings = scope.topics.flatMap((topic) => {
    const present = found.get(topic.name);
    if (present === undefined) return [];
    return [...checkSettings(topic, present), ...checkReplicas(topic.name, present, scope.replicationFactor)];
  });
  return [...checkPartitions(scope, counts), ...findings, ok(ABOUT, countOf(scope, found.size))];
}

/** An application does not see the topics that it may not use, whether or not they exist. */
function countOf({ topics, user }: Pick<KafkaScope, 'topics' | 'user'>, present: number): string {
  const counted = `${String(present)} of ${String(topics.length)} topics`;
  return isSetUp(user)
    ? `${counted} exist, ${String(topics.length - present)} to be created`
    : `${counted} that ${user} uses exist and are visible to this login`;
}

function checkSettings(topic: ScopedTopic, found: FoundTopic): Finding[] {
  const { name, configs } = topic;
  const findings: Finding[] = [];
  for (const setting of VITAL) {
    const expected = configs[setting];
    const value = found.configs.get(setting);
    if (expected === undefined || value === undefined || isGood(setting, value, expected)) continue;
    const command = `kafka-configs --alter --entity-type topics --entity-name ${name} --add-config ${setting}=${expected}`;
    // Where no reader looks at times, the topic works until the clock of a writer is an hour ahead of the broker's.
    const isHarmless = AT_MOST.includes(setting) || (setting === 'message.timestamp.type' && !timesCount(topic));
    const finding = isHarmless ? warning : problem;
    findings.push(finding(ABOUT, `${name} has ${setting}=${value} where ${expected} is expected`, command));
  }
  return findings;
}

function isGood(setting: string, value: string, expected: string): boolean {
  if (AT_MOST.includes(setting)) return Number(value) <= Number(expected);
  if (!AT_LEAST.includes(setting)) return value === expected;
  // -1: for ever
  return Number(value) >= Number(expected) || (setting === 'retention.ms' && value === '-1');
}

/** What keeps records from being written to a topic, of Kafka's own ones too. */
export function checkWritable(name: string, { replicas, inSync, leaderless, configs }: FoundTopic): Finding[] {
  const findings: Finding[] = [];
  if (leaderless > 0) {
    const fix = 'A broker is down: start it again. kafka-topics --describe --unavailable-partitions names them.';
    findings.push(problem(ABOUT, `${String(leaderless)} partitions of ${name} have no leader`, fix));
  }
  const minInSync = Math.min(Number(configs.get(MIN_IN_SYNC) ?? NaN), replicas);
  if (inSync !== null && inSync < minInSync) {
    const what = `a partition of ${name} has ${String(inSync)} of the ${String(minInSync)} replicas in sync that writing needs`;
    const fix =
      'Check the brokers that are down or slow; kafka-topics --describe --under-min-isr-partitions names the partitions.';
    findings.push(problem(ABOUT, what, fix));
  }
  return findings;
}

/** Records are acknowledged by `min.insync.replicas` of them: with as many, no broker may be down. */
function checkReplicas(name: string, found: FoundTopic, replicationFactor: number | null): Finding[] {
  const { replicas, behind } = found;
  const findings = checkMinInSync(name, found);
  if (replicationFactor !== null && replicas < replicationFactor) {
    const what = `${name} has ${String(replicas)} replicas where ${String(replicationFactor)} are expected`;
    findings.push(warning(ABOUT, what, 'Add replicas with kafka-reassign-partitions: set-up does not change them.'));
  }
  findings.push(...checkWritable(name, found));
  if (behind > 0) {
    const fix =
      'Check the brokers that are down or slow; kafka-topics --describe --under-replicated-partitions names them.';
    findings.push(warning(ABOUT, `${String(behind)} partitions of ${name} have replicas that are not in sync`, fix));
  }
  return findings;
}

function checkMinInSync(name: string, { replicas, configs }: FoundTopic): Finding[] {
  const minInSync = Number(configs.get(MIN_IN_SYNC) ?? NaN);
  const what = `${name} has ${MIN_IN_SYNC}=${String(minInSync)}`;
  const set = (value: number): string =>
    `kafka-configs --alter --entity-type topics --entity-name ${name} --add-config ${MIN_IN_SYNC}=${String(value)}`;
  // Brokers since Kafka 3.7 would write all the same, with all replicas in sync.
  if (minInSync > replicas)
    return [problem(ABOUT, `${what} and ${String(replicas)} replicas: applications do not start`, set(replicas))];
  if (replicas > 1 && minInSync === replicas)
    return [warning(ABOUT, `${what}, as many as it has replicas`, set(replicas - 1))];
  if (!(replicas >= 3 && minInSync < 2)) return [];
  return [warning(ABOUT, `${what}: a record that only one broker has acknowledged is lost with that broker`, set(2))];
}
