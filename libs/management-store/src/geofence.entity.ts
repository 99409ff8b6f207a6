import 'reflect-metadata';
import type { GeofenceCircle, GeofencePolygon } from '@waypost/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { epochMsColumn } from './epoch-ms-column.js';

/** The current version of a geofence. Exactly one of circle and polygon is there. */
@Entity({ name: 'geofences' })
export class GeofenceEntity {
  @PrimaryColumn({ name: 'geofence_id', type: 'uuid' })
  geofenceId!: string;

  @Column({ name: 'fleet_id', type: 'text' })
  fleetId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'jsonb', nullable: true })
  circle!: GeofenceCircle | null;

  @Column({ type: 'jsonb', nullable: true })
  polygon!: GeofencePolygon | null;

  @Column({ type: 'int' })
  version!: number;

  @Column(epochMsColumn('created_at'))
  createdAt!: number;

  @Column(epochMsColumn('updated_at'))
  updatedAt!: number;
}
