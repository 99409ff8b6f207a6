import { randomUUID } from 'node:crypto';
import { type FleetSettings, formatApiKey, hashApiKey } from '@waypost/domain';
import type { DataSource } from 'typeorm';
import { ApiKeyEntity } from './api-key.entity.js';
import { FleetEntity } from './fleet.entity.js';
import { appendToOutbox } from './outbox.js';

/** Everything that a key can be allowed to do. */
export const API_KEY_SCOPES = ['events:read', 'subscriptions:read', 'subscriptions:write'] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

export interface ApiKeyRecord {
  readonly id: string;
  readonly fleetId: string;
  readonly hash: Buffer;
  readonly scopes: readonly string[];
}

export type CreateFleetResult =
  | { readonly type: 'created'; readonly fleet: FleetSettings; readonly outboxIds: readonly string[] }
  | { readonly type: 'exists' }
  | { readonly type: 'invalid'; readonly message: string };

export type CreateApiKeyResult =
  | { readonly type: 'created'; readonly id: string; /** Shown once, never stored. */ readonly key: string }
  | { readonly type: 'fleet_not_found' };

/** Fleets and their API keys. Expected refusals are values; what is thrown is the database's. */
export interface FleetStore {
  /** Makes a fleet and, in the same transaction, its record for the topic `fleet.settings`. */
  createFleet(input: { fleetId: string; payloadFormat: 'v1' | 'legacy-v1'; nowMs: number }): Promise<CreateFleetResult>;
  findFleet(fleetId: string): Promise<FleetSettings | null>;
  /** Makes a key; only its SHA-256 is kept. */
  createApiKey(input: { fleetId: string; scopes: readonly ApiKeyScope[]; nowMs: number }): Promise<CreateApiKeyResult>;
  /** The live key with this SHA-256, or null. */
  findApiKey(hash: Buffer): Promise<ApiKeyRecord | null>;
}

/** Ids become parts of Kafka keys and of event ids, joined by a control character: none may hold one. */
const FLEET_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export interface FleetStoreDeps {
  readonly dataSource: DataSource;
  readonly randomBytes: (size: number) => Buffer;
}

export function createFleetStore({ dataSource, randomBytes }: FleetStoreDeps): FleetStore {
  async function createFleet(input: {
    fleetId: string;
    payloadFormat: 'v1' | 'legacy-v1';
    nowMs: number;
  }): Promise<CreateFleetResult> {
    if (!FLEET_ID.test(input.fleetId)) {
      return {
        type: 'invalid',
        message: 'a fleet id is 1 to 128 of A-Z a-z 0-9 . _ - and starts with a letter or digit',
      };
    }
    const fleet: FleetSettings = {
      fleetId: input.fleetId,
      payloadFormat: input.payloadFormat,
      version: 1,
      createdAt: input.nowMs,
      updatedAt: input.nowMs,
    };
    return dataSource.transaction(async (manager): Promise<CreateFleetResult> => {
      const insert = manager.createQueryBuilder().insert().into(FleetEntity).values(fleet).orIgnore();
      const inserted = await insert.returning('fleet_id').updateEntity(false).execute();
      if (!Array.isArray(inserted.raw) || inserted.raw.length === 0) return { type: 'exists' };
      const entry = { kind: 'fleet-settings', key: fleet.fleetId, value: fleet } as const;
      return { type: 'created', fleet, outboxIds: await appendToOutbox(manager, [entry], input.nowMs) };
    });
  }

  async function createApiKey(input: {
    fleetId: string;
    scopes: readonly ApiKeyScope[];
    nowMs: number;
  }): Promise<CreateApiKeyResult> {
    if ((await findFleet(input.fleetId)) === null) return { type: 'fleet_not_found' };
    const id = randomUUID();
    const key = formatApiKey(randomBytes(32));
    await dataSource.manager.insert(ApiKeyEntity, {
      id,
      fleetId: input.fleetId,
      hash: hashApiKey(key),
      scopes: [...input.scopes],
      createdAt: input.nowMs,
      revokedAt: null,
    });
    return { type: 'created', id, key };
  }

  function findFleet(fleetId: string): Promise<FleetSettings | null> {
    return dataSource.manager.findOneBy(FleetEntity, { fleetId });
  }

  async function findApiKey(hash: Buffer): Promise<ApiKeyRecord | null> {
    const found = await dataSource.manager.findOneBy(ApiKeyEntity, { hash });
    if (found === null || found.revokedAt !== null) return null;
    return { id: found.id, fleetId: found.fleetId, hash: found.hash, scopes: found.scopes };
  }

  return { createFleet, findFleet, createApiKey, findApiKey };
}
