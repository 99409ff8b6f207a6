import 'reflect-metadata';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { epochMsColumn } from './epoch-ms-column.js';

/** An API key of one fleet. The key itself is never stored, only its SHA-256. */
@Entity({ name: 'api_keys' })
export class ApiKeyEntity {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ type: 'text', nullable: true })
  name!: string | null;

  @Column({ type: 'text', nullable: true })
  prefix!: string | null;

  @Column({ type: 'bytea' })
  hash!: Buffer;

  @Column({ type: 'text', array: true })
  scopes!: string[];

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column({ ...epochMsColumn('revoked_at'), nullable: true })
  revokedAt!: number | null;
}
