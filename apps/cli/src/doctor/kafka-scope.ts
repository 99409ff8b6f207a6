import { allTopics, kafkaPermissions, type KafkaUser, type TopicDefinition } from '@waypost/contracts';
import { parseConfig, topicConfig } from '@waypost/platform/without-nest';
import type { Environment } from '../stack/stack-config.js';

/** What topics should be; null: unknown to this application, since only set-up makes topics. */
export interface KafkaWishes {
  /** Of each topic whose number of partitions is not fixed. */
  readonly partitions: number | null;
  readonly replicationFactor: number | null;
}

export type ScopedTopic = Pick<TopicDefinition, 'name' | 'partitions' | 'configs'>;

/** What of a cluster concerns a login. */
export interface KafkaScope extends KafkaWishes {
  /** undefined: all applications have this login. */
  readonly user: KafkaUser | undefined;
  readonly topics: readonly ScopedTopic[];
  /** Topics whose settings this login may read. */
  readonly readable: ReadonlySet<string>;
}

/** Whether this login makes topics, so that it sees all of them and knows their size. */
export function isSetUp(user: KafkaUser | undefined): user is undefined | 'set-up' {
  return user === undefined || user === 'set-up';
}

/** The variables are those of set-up: in the environment of an application, their defaults say nothing. */
export function wishesOf(variables: Environment, user?: KafkaUser): KafkaWishes {
  const { partitions, replicationFactor } = parseConfig(topicConfig, variables);
  const isMeant = (variable: string): boolean => isSetUp(user) || variables[variable] !== undefined;
  return {
    partitions: isMeant('WAYPOST_PARTITIONS') ? partitions : null,
    replicationFactor: isMeant('WAYPOST_REPLICATION_FACTOR') ? replicationFactor : null,
  };
}

export function scopeOf(wishes: KafkaWishes, user?: KafkaUser): KafkaScope {
  const { partitions, replicationFactor } = wishes;
  const permissions = Object.entries(kafkaPermissions)
    .filter(([name]) => user === undefined || name === user)
    .flatMap(([, ofUser]) => ofUser.filter(({ resource }) => resource === 'topic'));
  const names = new Set(permissions.map(({ name }) => name));
  const readable = permissions.filter(({ operations }) => operations.includes('DESCRIBE_CONFIGS'));
  return {
    partitions,
    replicationFactor,
    user,
    topics: allTopics.filter(({ name }) => names.has(name)),
    readable: new Set(readable.map(({ name }) => name)),
  };
}
