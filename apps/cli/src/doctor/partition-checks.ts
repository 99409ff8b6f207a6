import { fixOfPartitions } from '@waypost/contracts';
import { type Finding, problem } from './finding.js';
import type { KafkaScope } from './kafka-scope.js';

const ABOUT = 'kafka';

type Scope = Pick<KafkaScope, 'topics' | 'partitions'>;

/** Tasks pair the partitions of topics by number. Where the number is unknown, the topics are compared with each other. */
export function checkPartitions({ topics, partitions }: Scope, found: ReadonlyMap<string, number>): Finding[] {
  const equals = topics.filter((topic) => topic.partitions === 'default');
  const usual = partitions ?? mostFrequent(equals.flatMap(({ name }) => found.get(name) ?? []));
  return topics.flatMap((topic) => {
    const count = found.get(topic.name);
    const expected = topic.partitions === 'default' ? usual : topic.partitions;
    if (count === undefined || count === expected) return [];
    const has = `${topic.name} has ${String(count)} partitions where`;
    if (partitions !== null || topic.partitions !== 'default')
      return [problem(ABOUT, `${has} ${String(expected)} are expected`, sentence(fixOfPartitions(topic)))];
    const fix =
      `If nothing has been written to ${topic.name}, delete it and run set-up. ` +
      'Otherwise move to new topics, as docs/operations.md says ("More partitions or another cluster").';
    return [problem(ABOUT, `${has} other topics have ${String(expected)}`, fix)];
  });
}

/** The first of those that are equally frequent. */
function mostFrequent(counts: readonly number[]): number | undefined {
  const frequency = (count: number): number => counts.filter((one) => one === count).length;
  return [...counts].sort((a, b) => frequency(b) - frequency(a))[0];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
