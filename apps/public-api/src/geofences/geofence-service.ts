import type { Geofence } from '@waypost/domain';
import type { ExpectedVersions, GeofenceRef, ManagementStore } from '@waypost/management-store';
import type { z } from 'zod';
import { type Versioned, versionMismatch } from '../concurrency/entity-tag.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { noSuchFleet } from '../fleets/fleet-refusals.js';
import type { createGeofenceBody, updateGeofenceBody } from './geofence-body.js';
import { noSuchGeofence, tooManyGeofences } from './geofence-refusals.js';
import { type GeofenceResource, storedShape, toGeofenceResource } from './geofence-resource.js';

export interface GeofenceServiceDeps {
  readonly store: Pick<ManagementStore, 'geofences'>;
  readonly newId: () => string;
  readonly now: () => number;
  /** Resolves when these changes are published, or after a while all the same: they are durable. */
  readonly untilPublished: (outboxIds: readonly string[]) => Promise<void>;
}

export type VersionedGeofence = Versioned<GeofenceResource>;

/** Manages the geofences of one fleet at a time. @throws ApiError for every refusal */
export interface GeofenceService {
  create(
    fleetId: string,
    body: z.infer<typeof createGeofenceBody>,
    change: MakeChange<VersionedGeofence>,
  ): Promise<VersionedGeofence>;
  update(
    ref: GeofenceRef,
    body: z.infer<typeof updateGeofenceBody>,
    expected: ExpectedVersions,
  ): Promise<VersionedGeofence>;
  remove(ref: GeofenceRef, expected: ExpectedVersions): Promise<void>;
}

export function createGeofenceService({ store, newId, now, untilPublished }: GeofenceServiceDeps): GeofenceService {
  return {
    create: (fleetId, { name, shape }, change) =>
      change(async (stores) => {
        const draft = { geofenceId: newId(), fleetId, name, ...storedShape(shape) };
        const result = await stores.geofences.create(draft, now());
        if (result.type === 'fleet_not_found') throw noSuchFleet();
        if (result.type === 'too_many') throw tooManyGeofences();
        return { answer: versioned(result.geofence), outboxIds: result.outboxIds };
      }),
    async update(ref, { name, shape }, expected) {
      const change = {
        ...(name === undefined ? {} : { name }),
        ...(shape === undefined ? {} : storedShape(shape)),
      };
      const result = await store.geofences.update(ref, change, now(), expected);
      if (result.type === 'not_found') throw noSuchGeofence();
      if (result.type === 'version_mismatch') throw versionMismatch(result.version);
      if (result.type === 'changed') await untilPublished(result.outboxIds);
      return versioned(result.geofence);
    },
    async remove(ref, expected) {
      const result = await store.geofences.delete(ref, now(), expected);
      if (result.type === 'not_found') throw noSuchGeofence();
      if (result.type === 'version_mismatch') throw versionMismatch(result.version);
      await untilPublished(result.outboxIds);
    },
  };
}

function versioned(stored: Geofence): VersionedGeofence {
  return { resource: toGeofenceResource(stored), version: stored.version };
}
