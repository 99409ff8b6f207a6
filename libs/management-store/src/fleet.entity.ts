import 'reflect-metadata';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { epochMsColumn } from './epoch-ms-column.js';

/** A fleet and its defaults, and whether routes and stops are made for it. */
@Entity({ name: 'fleets' })
export class FleetEntity {
  @PrimaryColumn({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ type: 'text', nullable: true })
  name!: string | null;

  @Column({ name: 'payload_format', type: 'text' })
  payloadFormat!: string;

  @Column({ type: 'boolean' })
  routes!: boolean;

  @Column({ type: 'int' })
  version!: number;

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column(epochMsColumn('updated_at'))
  updatedAt!: number;
}
