import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The id of each topic that the history is filled from: another topic of the same name has other offsets. */
export class ProjectedTopics1760002100003 implements MigrationInterface {
  readonly name = 'ProjectedTopics1760002100003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE projected_topics (topic text PRIMARY KEY, topic_id text NOT NULL)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE projected_topics');
  }
}
