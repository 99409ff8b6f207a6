import { describe, expect, it } from '@jest/globals';
import type { DecodeResult, SubjectCodec } from '@waypost/contracts';
import { StreamRecord } from '@waypost/streams';
import { decodeBatch, type DecodedRecord, toJson } from './decode-batch.js';
import { matches } from './open-log.js';

const framed = Buffer.from([0, 0, 0, 0, 9, 1]);

async function decoded(result: DecodeResult<unknown>, value: Buffer | null = framed) {
  const resolved: number[] = [];
  const codec = {
    resolve: (ids: Iterable<number>) => Promise.resolve(void resolved.push(...ids)),
    decode: () => result,
  } as unknown as SubjectCodec<unknown>;
  const record = StreamRecord.of({ offset: 5, timestamp: 77, key: Buffer.from('bus-7'), value });
  const batch = { topic: 't', partition: 2, records: [record], nextOffset: 6, highWatermark: 6, lastStableOffset: 6 };
  const [first] = await decodeBatch(codec, batch);
  return { first, resolved };
}

describe('A record that is read', () => {
  it('is shown with its place, time, key and decoded value', async () => {
    const { first, resolved } = await decoded({ type: 'decoded', value: { a: 1 } });
    expect(first).toEqual({ topic: 't', partition: 2, offset: 5, timestamp: 77, key: 'bus-7', value: { a: 1 } });
    expect(resolved).toEqual([9]);
  });

  it('is shown as a tombstone when it has no value', async () => {
    expect((await decoded({ type: 'malformed', detail: 'x' }, null)).first).toMatchObject({ value: null });
  });

  it.each<[DecodeResult<unknown>, string]>([
    [{ type: 'malformed', detail: 'cut short' }, 'malformed: cut short'],
    [{ type: 'unknown_schema', id: 9 }, 'unknown_schema: the registry does not know schema id 9'],
    [{ type: 'incompatible_schema', id: 9, detail: 'other' }, 'incompatible_schema: id 9: other'],
  ])('is shown by its bytes, with the reason, when it cannot be decoded', async (result, problem) => {
    expect((await decoded(result)).first).toMatchObject({ value: null, problem, valueBase64: 'AAAAAAkB' });
  });

  it('is written in one line, bytes as base64', () => {
    expect(toJson({ value: { sourceKey: Buffer.from('ab'), text: 'a\nb' } })).toBe(
      '{"value":{"sourceKey":"YWI=","text":"a\\nb"}}',
    );
  });
});

describe('The filter of records', () => {
  const none = { from: null, to: null, device: null, type: null };
  const record: DecodedRecord = {
    topic: 't',
    partition: 0,
    offset: 0,
    timestamp: 100,
    key: 'key-device',
    value: { deviceId: 'bus-7', eventType: 'position' },
  };

  it.each([
    [none, true],
    [{ ...none, from: 100 }, true],
    [{ ...none, from: 101 }, false],
    [{ ...none, to: 101 }, true],
    [{ ...none, to: 100 }, false],
    [{ ...none, device: 'bus-7' }, true],
    [{ ...none, device: 'key-device' }, false],
    [{ ...none, type: 'position' }, true],
    [{ ...none, type: 'ignition_on' }, false],
  ])('lets a record through when all of it holds: %j', (filter, expected) => {
    expect(matches(record, filter)).toBe(expected);
  });

  it('goes by the key where the value names no device', () => {
    expect(matches({ ...record, value: null }, { ...none, device: 'key-device' })).toBe(true);
  });
});
