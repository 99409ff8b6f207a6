/** SQL by hand: whether a topic can be bound depends on its positions, in one statement. */
import type { DataSource } from 'typeorm';

/** The topics that the history was filled from: a position is meaningless in another topic of the same name. */
export interface ProjectedTopics {
  /** Whether the topic has this id. A topic of which nothing is projected is bound to it. */
  isBoundTo(topic: string, topicId: string): Promise<boolean>;
}

export function createProjectedTopics(dataSource: DataSource): ProjectedTopics {
  return {
    async isBoundTo(topic, topicId) {
      await dataSource.query(BIND, [topic, topicId]);
      const rows: unknown[] = await dataSource.query(
        'SELECT 1 FROM projected_topics WHERE topic = $1 AND topic_id = $2',
        [topic, topicId],
      );
      return rows.length > 0;
    },
  };
}

const BIND = `
  INSERT INTO projected_topics AS bound VALUES ($1, $2)
  ON CONFLICT (topic) DO UPDATE SET topic_id = $2
    WHERE NOT EXISTS (SELECT FROM projection_positions WHERE topic = bound.topic)`;
