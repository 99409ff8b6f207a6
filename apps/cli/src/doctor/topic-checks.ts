import { type Finding, ok, problem } from './finding.js';

export interface WantedTopic {
  readonly name: string;
  readonly partitions: number;
  readonly configs: Readonly<Record<string, string>>;
}

export interface FoundTopic {
  readonly partitions: number;
  readonly configs: ReadonlyMap<string, string>;
}

/** Settings that change what is kept, in which order, and what fits; the others only cost time. */
const VITAL = [
  'cleanup.policy',
  'message.timestamp.type',
  'max.message.bytes',
  'retention.ms',
  'min.compaction.lag.ms',
];
const AT_LEAST = ['max.message.bytes', 'retention.ms', 'min.compaction.lag.ms'];
const ABOUT = 'kafka';

/** Topics that are there already must be what a set-up would have made. Missing ones are for the set-up. */
export function checkTopics(wanted: readonly WantedTopic[], found: ReadonlyMap<string, FoundTopic>): Finding[] {
  const findings = wanted.flatMap((topic) => {
    const present = found.get(topic.name);
    return present === undefined ? [] : checkTopic(topic, present);
  });
  const missing = wanted.filter(({ name }) => !found.has(name)).length;
  const counts = `${String(found.size)} of ${String(wanted.length)} topics are there, ${String(missing)} to be created`;
  return [...findings, ok(ABOUT, counts)];
}

function checkTopic({ name, partitions, configs }: WantedTopic, found: FoundTopic): Finding[] {
  const findings: Finding[] = [];
  if (found.partitions !== partitions) {
    const what = `${name} has ${String(found.partitions)} partitions where ${String(partitions)} are expected`;
    findings.push(problem(ABOUT, what, 'Set WAYPOST_PARTITIONS to what all topics have, or delete the topic.'));
  }
  for (const setting of VITAL) {
    const expected = configs[setting];
    const value = found.configs.get(setting);
    if (expected === undefined || value === undefined || isGood(setting, value, expected)) continue;
    const command = `kafka-configs --alter --entity-type topics --entity-name ${name} --add-config ${setting}=${expected}`;
    findings.push(problem(ABOUT, `${name} has ${setting}=${value} where ${expected} is expected`, command));
  }
  return findings;
}

function isGood(setting: string, value: string, expected: string): boolean {
  if (!AT_LEAST.includes(setting)) return value === expected;
  // -1: for ever
  return Number(value) >= Number(expected) || (setting === 'retention.ms' && value === '-1');
}
