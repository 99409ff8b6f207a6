import type { Geofence } from '@waypost/domain';
import type { ExpectedVersions, VersionMismatch } from './expected-versions.js';
import type { ListPosition } from './list-position.js';

/** What a caller decides of a new geofence; the store adds version and times. */
export type NewGeofence = Omit<Geofence, 'version' | 'createdAt' | 'updatedAt'>;

/** What an update may replace. Circle and polygon go together: one of them is null. */
export type GeofenceChange = Partial<Pick<Geofence, 'name' | 'circle' | 'polygon'>>;

/** One geofence of one fleet: another fleet's id is simply not found. */
export type GeofenceRef = Pick<Geofence, 'fleetId' | 'geofenceId'>;

export type CreateGeofenceResult =
  | { readonly type: 'created'; readonly geofence: Geofence; readonly outboxIds: readonly string[] }
  /** The fleet has MAX_GEOFENCES. */
  | { readonly type: 'too_many' }
  | { readonly type: 'fleet_not_found' };

export type ChangeGeofenceResult =
  | { readonly type: 'changed'; readonly geofence: Geofence; readonly outboxIds: readonly string[] }
  /** It is already so: no new version. */
  | { readonly type: 'unchanged'; readonly geofence: Geofence }
  | VersionMismatch
  | { readonly type: 'not_found' };

export type DeleteGeofenceResult =
  | { readonly type: 'deleted'; readonly outboxIds: readonly string[] }
  | VersionMismatch
  | { readonly type: 'not_found' };

export interface GeofenceQuery {
  readonly fleetId: string;
  readonly limit: number;
  /** null: from the oldest on. */
  readonly after: ListPosition | null;
}

/** Every process of the rules holds the geofences of all fleets in memory: no fleet may have any number of them. */
export const MAX_GEOFENCES = 10_000;

/** Geofences. Every change and its outbox row are one SQL transaction; `version` counts up. */
export interface GeofenceStore {
  create(geofence: NewGeofence, nowMs: number): Promise<CreateGeofenceResult>;
  /** Oldest first. */
  list(query: GeofenceQuery): Promise<readonly Geofence[]>;
  get(ref: GeofenceRef): Promise<Geofence | null>;
  update(
    ref: GeofenceRef,
    change: GeofenceChange,
    nowMs: number,
    expected?: ExpectedVersions,
  ): Promise<ChangeGeofenceResult>;
  delete(ref: GeofenceRef, nowMs: number, expected?: ExpectedVersions): Promise<DeleteGeofenceResult>;
}
