import { StreamsError } from '../errors.js';

/** As much of a topology as can be checked without a broker. */
export interface TopologyShape {
  readonly applicationId: string;
  readonly source: string;
  readonly stores?: Readonly<Record<string, { readonly changelogTopic: string }>>;
  readonly sinks: Readonly<Record<string, { readonly topic: string }>>;
}

/** @throws {StreamsError} INVALID_TOPOLOGY: what contradicts itself, and how to mend it */
export const checkTopology = ({ applicationId, source, stores = {}, sinks }: TopologyShape): void => {
  if (applicationId === '') throw invalid('A topology needs an applicationId: it names its consumer group.');
  if (source === '') throw invalid(`The topology ${applicationId} needs a source: the name of the topic to read.`);
  const users = new Map([[source, 'the source']]);
  for (const [name, { topic }] of Object.entries(sinks)) {
    if (topic === '') throw invalid(`The sink ${name} of ${applicationId} needs a topic.`);
    users.set(topic, `the sink ${name}`);
  }
  for (const [name, { changelogTopic }] of Object.entries(stores)) {
    if (changelogTopic === '') throw invalid(`The store ${name} of ${applicationId} needs a changelogTopic.`);
    const user = users.get(changelogTopic);
    if (user !== undefined) {
      throw invalid(
        `The topic ${changelogTopic} is the changelog of the store ${name} and used by ${user} of ${applicationId}: give the store a topic of its own, or its restore would read what is not its own.`,
      );
    }
    users.set(changelogTopic, `the store ${name}`);
  }
};

/** A name that a processor asked for and that its topology does not declare. */
export const undeclared = (
  kind: 'sink' | 'store',
  name: string,
  applicationId: string,
  declared: readonly string[],
): StreamsError =>
  invalid(
    `The topology ${applicationId} has no ${kind} named ${name}: declare it under "${kind}s", or use one of those declared (${declared.join(', ') || 'none'}).`,
  );

export const invalid = (message: string): StreamsError => new StreamsError('INVALID_TOPOLOGY', message);
