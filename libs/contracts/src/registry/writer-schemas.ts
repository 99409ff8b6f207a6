import type avro from 'avsc';
import { avroTypeOf } from '../avro/avro-type.js';
import { hasEmptyItems } from '../avro/empty-items.js';
import { messageOf } from '../contracts-error.js';
import type { SchemaLookup, SchemaRegistryPort } from './schema-registry.js';

export type WriterSchema =
  | { readonly type: 'usable'; readonly avroType: avro.Type }
  | { readonly type: 'unusable'; readonly detail: string }
  | { readonly type: 'unknown' };

interface UnknownSchema {
  readonly type: 'unknown';
  readonly retryAt: number;
}

const UNKNOWN_FOR_MS = 2_000;
const MAX_UNKNOWN = 1_000;
const PARALLEL_LOOKUPS = 8;

/** The writers' schemas by id: looked up in batches, read synchronously. */
export interface WriterSchemas {
  /** Looks up unknown ids. Rejects (retriable) while the registry is unavailable, and assumes nothing. */
  resolve(ids: Iterable<number>): Promise<void>;
  /** undefined: not looked up yet. */
  get(id: number): WriterSchema | undefined;
}

/**
 * Known schemas are kept forever: ids are never reused. An unknown id is looked up again after 2 s: its producer may
 * have registered it just before, and one of several registries may not have it yet. Beyond 1,000 unknown ids the
 * oldest are evicted, but only when a new batch begins: a result of `resolve` can be read until the next `resolve`.
 */
export function createWriterSchemas(registry: SchemaRegistryPort, now: () => number): WriterSchemas {
  const known = new Map<number, WriterSchema>();
  const unknown = new Map<number, UnknownSchema>();
  const inFlight = new Map<number, Promise<void>>();

  async function lookUp(id: number): Promise<void> {
    const found = id > 0 ? await registry.schemaById(id) : ({ type: 'unknown' } as const);
    unknown.delete(id);
    if (found.type === 'unknown') unknown.set(id, { type: 'unknown', retryAt: now() + UNKNOWN_FOR_MS });
    else known.set(id, writerSchemaOf(found));
  }

  function shared(id: number): Promise<void> {
    const running = inFlight.get(id);
    if (running !== undefined) return running;
    const lookup = lookUp(id).finally(() => inFlight.delete(id));
    inFlight.set(id, lookup);
    return lookup;
  }

  function needsLookup(id: number): boolean {
    if (known.has(id)) return false;
    const entry = unknown.get(id);
    return entry === undefined || entry.retryAt <= now();
  }

  function forgetOldest(): void {
    for (const id of unknown.keys()) {
      if (unknown.size <= MAX_UNKNOWN) return;
      unknown.delete(id);
    }
  }

  return {
    async resolve(ids) {
      const wanted = new Set(ids);
      const missing = [...wanted].filter(needsLookup);
      if (missing.length === 0) return;
      forgetOldest();
      // An id of this batch may have been evicted just now.
      const pending = [...wanted].filter(needsLookup);
      for (let start = 0; start < pending.length; start += PARALLEL_LOOKUPS) {
        await Promise.all(pending.slice(start, start + PARALLEL_LOOKUPS).map(shared));
      }
    },
    get: (id) => known.get(id) ?? unknown.get(id),
  };
}

function writerSchemaOf(found: Exclude<SchemaLookup, { type: 'unknown' }>): WriterSchema {
  if (found.type === 'not_avro') return { type: 'unusable', detail: found.detail };
  try {
    const avroType = avroTypeOf(found.schema);
    if (hasEmptyItems(avroType)) return { type: 'unusable', detail: 'the registered schema has arrays of nothing' };
    return { type: 'usable', avroType };
  } catch (error) {
    return { type: 'unusable', detail: `the registered schema is not valid Avro: ${messageOf(error)}` };
  }
}
