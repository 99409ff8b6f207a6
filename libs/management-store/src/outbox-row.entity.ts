import 'reflect-metadata';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { epochMsColumn } from './epoch-ms-column.js';

/** One change that waits to be published, or was. A null value is a tombstone. */
@Entity({ name: 'outbox' })
export class OutboxRowEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column({ type: 'text' })
  kind!: string;

  @Column({ type: 'text' })
  key!: string;

  @Column({ name: 'partition_key', type: 'text', nullable: true })
  partitionKey!: string | null;

  @Column({ type: 'jsonb', nullable: true })
  value!: object | null;

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column({ ...epochMsColumn('published_at'), nullable: true })
  publishedAt!: number | null;
}
