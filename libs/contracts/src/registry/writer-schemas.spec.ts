import { describe, expect, it } from '@jest/globals';
import type { SchemaLookup, SchemaRegistryPort } from './schema-registry.js';
import { createWriterSchemas } from './writer-schemas.js';

const schema = { type: 'record', name: 'R', fields: [] };

function build(lookUp: (id: number) => Promise<SchemaLookup>) {
  const asked: number[] = [];
  const clock = { nowMs: 1_000 };
  const registry: SchemaRegistryPort = {
    schemaById: (id) => {
      asked.push(id);
      return lookUp(id);
    },
    idOf: () => Promise.resolve(null),
    register: () => Promise.resolve(0),
    setCompatibility: () => Promise.resolve(),
  };
  return { asked, clock, writers: createWriterSchemas(registry, () => clock.nowMs) };
}

function knows(...ids: readonly number[]) {
  return (id: number): Promise<SchemaLookup> =>
    Promise.resolve(ids.includes(id) ? { type: 'avro', schema } : { type: 'unknown' });
}

describe("The cache of writers' schemas", () => {
  it('asks once for an id that is known', async () => {
    const { asked, writers } = build(knows(1));
    await writers.resolve([1, 1]);
    await writers.resolve([1]);
    expect(asked).toEqual([1]);
    expect(writers.get(1)).toMatchObject({ type: 'usable' });
  });

  it('shares one request between batches that ask at the same time', async () => {
    const { asked, writers } = build(knows(1));
    await Promise.all([writers.resolve([1]), writers.resolve([1])]);
    expect(asked).toEqual([1]);
  });

  it('believes for 2 s that an id is unknown, then asks again', async () => {
    const known: number[] = [];
    const { asked, clock, writers } = build((id) => knows(...known)(id));
    await writers.resolve([5]);
    clock.nowMs += 1_999;
    await writers.resolve([5]);
    expect(asked).toEqual([5]);
    known.push(5);
    clock.nowMs += 1;
    await writers.resolve([5]);
    expect(asked).toEqual([5, 5]);
    expect(writers.get(5)).toMatchObject({ type: 'usable' });
  });

  it('never looks up an id that no registry assigns', async () => {
    const { asked, writers } = build(knows());
    await writers.resolve([0, -7]);
    expect(asked).toEqual([]);
    expect(writers.get(-7)).toMatchObject({ type: 'unknown' });
  });

  it('assumes nothing when the registry cannot be asked', async () => {
    const outage = new Error('registry down');
    let down = true;
    const { writers } = build((id) => (down ? Promise.reject(outage) : knows(1)(id)));
    await expect(writers.resolve([1])).rejects.toBe(outage);
    expect(writers.get(1)).toBeUndefined();
    down = false;
    await writers.resolve([1]);
    expect(writers.get(1)).toMatchObject({ type: 'usable' });
  });

  it('holds every unknown id of the latest batch, but forgets old ones beyond its bound', async () => {
    const { writers } = build(knows());
    const batch = (start: number) => Array.from({ length: 1_500 }, (_, index) => start + index);
    await writers.resolve(batch(1));
    expect(batch(1).every((id) => writers.get(id) !== undefined)).toBe(true);
    await writers.resolve(batch(10_001));
    expect(batch(10_001).every((id) => writers.get(id) !== undefined)).toBe(true);
    expect(batch(1).filter((id) => writers.get(id) !== undefined)).toHaveLength(1_000);
  });
});
