import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { allTopics, topicNamed } from './topics.js';

const schemasDir = new URL('../../../../schemas/', import.meta.url);

describe('The topic table', () => {
  it('has a topic for every schema, with the schema of the file', () => {
    const files = readdirSync(schemasDir).filter((name) => name.endsWith('.avsc'));
    expect(allTopics.map((topic) => `${topic.subject}.avsc`).sort()).toEqual(files.sort());
    for (const topic of allTopics) {
      expect(topic.schema).toEqual(JSON.parse(readFileSync(new URL(`${topic.subject}.avsc`, schemasDir), 'utf8')));
    }
  });

  it.each(allTopics)('names the subject of $name after the topic', ({ name, subject }) => {
    expect(subject).toBe(`${name}-value`);
  });

  it.each(allTopics.filter((topic) => topic.cleanup === 'delete'))(
    'keeps $name longer than the history (R-35)',
    ({ configs }) => {
      expect(Number(configs['retention.ms'])).toBeGreaterThan(15 * 86_400_000);
      expect(configs['retention.bytes']).toBe('-1');
    },
  );

  it.each(allTopics)('lets no wrong clock of a writer stop $name', ({ configs }) => {
    expect(configs['message.timestamp.type']).toBe('LogAppendTime');
  });

  it.each(allTopics.filter((topic) => topic.cleanup === 'compact'))('never ages out a key of $name', ({ configs }) => {
    expect(configs['cleanup.policy']).toBe('compact');
    expect(configs).not.toHaveProperty(['retention.ms']);
  });

  it.each(allTopics.filter((topic) => topic.cleanup === 'compact'))(
    'keeps the deletions of $name as long as applications require, whatever the default of the brokers',
    ({ configs }) => {
      expect(Number(configs['delete.retention.ms'])).toBeGreaterThanOrEqual(86_400_000);
    },
  );

  it('keeps versions longer than pings can be read, which the broker deletes by whole files (R-8, R-9)', () => {
    const [pings, ...versioned] = ['telemetry.pings', 'fleet.geofences', 'fleet.settings'].map(topicNamed);
    const readableMs = ['retention.ms', 'segment.ms'].reduce((sum, name) => sum + Number(pings?.configs[name]), 0);
    expect(readableMs).toBe(17 * 86_400_000);
    for (const topic of versioned) expect(Number(topic?.configs['min.compaction.lag.ms'])).toBeGreaterThan(readableMs);
  });

  it('finds a topic by name', () => {
    expect(topicNamed('fleet.events')?.subject).toBe('fleet.events-value');
    expect(topicNamed('nope')).toBeUndefined();
  });
});
