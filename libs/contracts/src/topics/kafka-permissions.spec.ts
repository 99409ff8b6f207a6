import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { allConsumerGroups } from './consumer-groups.js';
import { type KafkaOperation, type KafkaPermission, kafkaPermissions } from './kafka-permissions.js';
import { allTopics } from './topics.js';

const page = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');
const APPLICATIONS = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'] as const;

function namesIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).sort();
}

describe('the permissions in Kafka', () => {
  it.each(APPLICATIONS)('of %s are those that docs/operations.md lists', (app) => {
    const section = page.slice(page.indexOf('## Permissions in Kafka'));
    const row = section.split('\n').find((line) => line.startsWith(`| \`${app}\` `));
    const [, , reads, writes, groups, ids] = row?.split('|') ?? [];
    const of = (resource: KafkaPermission['resource'], operation: KafkaOperation): string[] =>
      kafkaPermissions[app]
        .filter((one) => one.resource === resource && one.operations.includes(operation))
        .map(({ name, pattern }) => (pattern === 'prefixed' ? `${name}*` : name))
        .sort();
    expect(namesIn(reads)).toEqual(of('topic', 'READ'));
    expect(namesIn(writes)).toEqual(of('topic', 'WRITE'));
    expect(namesIn(groups)).toEqual(of('group', 'READ'));
    expect(namesIn(ids)).toEqual(of('transactionalId', 'WRITE'));
  });

  it('to read settings are those that docs/operations.md lists', () => {
    const sentence = /^DESCRIBE_CONFIGS is also needed: ([^]+?)\.\s/m.exec(page)?.[1] ?? '';
    const listed = sentence.split(';').map((part) => part.split(/\son\s/).map(namesIn));
    const described = APPLICATIONS.map((app) => [
      [app],
      kafkaPermissions[app].flatMap((one) => (one.operations.includes('DESCRIBE_CONFIGS') ? one.name : [])).sort(),
    ]);
    expect(listed).toEqual(described.filter(([, names]) => names !== undefined && names.length > 0));
  });

  it.each(APPLICATIONS)('let %s join its own groups and no others', (app) => {
    const groups = kafkaPermissions[app].filter(({ resource }) => resource === 'group').map(({ name }) => name);
    expect(groups.sort()).toEqual(
      allConsumerGroups
        .filter((group) => group.app === app)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('let set-up create every topic, and write to none', () => {
    expect(kafkaPermissions['set-up'].map(({ name }) => name)).toEqual(allTopics.map(({ name }) => name));
    expect(kafkaPermissions['set-up'].flatMap(({ operations }) => operations)).not.toContain('WRITE');
  });
});
