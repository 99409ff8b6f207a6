import type avro from 'avsc';
import { avroTypeOf } from './avro-type.js';
import type { SchemaLookup, SchemaRegistryPort } from './schema-registry.js';

export type WriterSchema =
  | { readonly type: 'usable'; readonly avroType: avro.Type }
  | { readonly type: 'unusable'; readonly detail: string }
  | { readonly type: 'unknown' };

interface UnknownSchema {
  readonly type: 'unknown';
  readonly askAgainAt: number;
}

const unknownForMs = 30_000;
const maxUnknown = 1_000;
const parallelLookups = 8;

/** What the registry said of each schema id; asked in batches, read synchronously. */
export interface WriterSchemas {
  /** Asks the registry for ids not known yet. Rejects (retriable) when it cannot be asked: nothing is assumed then. */
  resolve(ids: Iterable<number>): Promise<void>;
  /** undefined: not asked yet. */
  get(id: number): WriterSchema | undefined;
}

/**
 * A known schema is kept for good: ids are never reused. An unknown id is asked again after 30 s, since its producer may
 * have registered it meanwhile. Beyond 1,000 unknown ids the oldest are forgotten, but only when a new batch begins: what
 * `resolve` has answered can be read until the next `resolve`.
 */
export function createWriterSchemas(registry: SchemaRegistryPort, now: () => number): WriterSchemas {
  const known = new Map<number, WriterSchema>();
  const unknown = new Map<number, UnknownSchema>();
  const inFlight = new Map<number, Promise<void>>();

  async function lookUp(id: number): Promise<void> {
    const found = id > 0 ? await registry.schemaById(id) : ({ type: 'unknown' } as const);
    unknown.delete(id);
    if (found.type === 'unknown') unknown.set(id, { type: 'unknown', askAgainAt: now() + unknownForMs });
    else known.set(id, writerSchemaOf(found));
  }

  function shared(id: number): Promise<void> {
    const running = inFlight.get(id);
    if (running !== undefined) return running;
    const lookup = lookUp(id).finally(() => inFlight.delete(id));
    inFlight.set(id, lookup);
    return lookup;
  }

  function mustAsk(id: number): boolean {
    if (known.has(id)) return false;
    const entry = unknown.get(id);
    return entry === undefined || entry.askAgainAt <= now();
  }

  function forgetOldest(): void {
    for (const id of unknown.keys()) {
      if (unknown.size <= maxUnknown) return;
      unknown.delete(id);
    }
  }

  return {
    async resolve(ids) {
      const wanted = new Set(ids);
      const missing = [...wanted].filter(mustAsk);
      if (missing.length === 0) return;
      forgetOldest();
      // An id of this batch that was forgotten just now is missing again.
      const toAsk = [...wanted].filter(mustAsk);
      for (let start = 0; start < toAsk.length; start += parallelLookups) {
        await Promise.all(toAsk.slice(start, start + parallelLookups).map(shared));
      }
    },
    get: (id) => known.get(id) ?? unknown.get(id),
  };
}

function writerSchemaOf(found: Exclude<SchemaLookup, { type: 'unknown' }>): WriterSchema {
  if (found.type === 'not_avro') return { type: 'unusable', detail: found.detail };
  try {
    return { type: 'usable', avroType: avroTypeOf(found.schema) };
  } catch (error) {
    return { type: 'unusable', detail: `the registered schema is not valid Avro: ${messageOf(error)}` };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
