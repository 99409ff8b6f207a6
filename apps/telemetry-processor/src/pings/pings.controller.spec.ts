import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs, republishedHeader } from '@waypost/contracts';
import { type RejectedTelemetry, type TelemetryPing, traceOfPing } from '@waypost/domain';
import type { EndedSpan, Traces } from '@waypost/platform';
import { type OutgoingRecord, type RecordHeader, type Topology } from '@waypost/streams';
import { createTopologyTestDriver, type TopologyTestDriver } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../../test/support/samples.js';
import { pingTopology } from './testing/ping-topology.js';

const START = Date.UTC(2026, 0, 5, 8);
const HOUR_MS = 3_600_000;
const PARTITION = 2;

function aPing(more: Partial<TelemetryPing> = {}): TelemetryPing {
  return pingOf({ eventTime: START, receivedTime: START + 500, ...more });
}

const noFleets = { fleet: () => undefined, knownCount: () => 0, caughtUp: () => Promise.resolve() };

let codecs: AvroCodecs;
let driver: TopologyTestDriver;
let decisions: string[];
let emitted: string[];

async function newCodecs(): Promise<AvroCodecs> {
  const made = createAvroCodecs({ registry: createMemoryRegistry(), now: () => 0 });
  await Promise.all(Object.values(made).map((codec) => codec.prepare()));
  return made;
}

/** What the test itself reads back. */
function lookUpOutput(): Promise<unknown> {
  return codecs.fleetEvents.resolve([1, 2, 3, 4, 5, 6, 7, 8]);
}

beforeEach(async () => {
  codecs = await newCodecs();
  await lookUpOutput();
  decisions = [];
  emitted = [];
  driver = driverWith({ recorder: null, sampleRatio: 0 });
});

function driverWith(traces: Traces): TopologyTestDriver {
  const metrics = {
    pingDecided: (decision: string) => void decisions.push(decision),
    eventEmitted: (eventType: string) => void emitted.push(eventType),
  };
  const topology = pingTopology({ codecs, fleets: noFleets, metrics, traces });
  return createTopologyTestDriver({ topology, partition: PARTITION, startAt: START + HOUR_MS });
}

function pipe(ping: TelemetryPing, headers: readonly RecordHeader[] = []): Promise<OutgoingRecord[]> {
  return driver.pipe({ key: Buffer.from(ping.deviceId), value: codecs.telemetryPings.encode(ping), headers });
}

function tracesOf({ headers = [] }: OutgoingRecord): string[] {
  return headers.map(({ key, value }) => `${key} ${String(value)}`);
}

function typesOf(records: readonly OutgoingRecord[]): string[] {
  return records.map(({ value }) => {
    const decoded = codecs.fleetEvents.decode(value ?? Buffer.alloc(0));
    return decoded.type === 'decoded' ? decoded.value.eventType : decoded.type;
  });
}

function rejectionOf(records: readonly OutgoingRecord[]): RejectedTelemetry {
  expect(records).toMatchObject([{ topic: 'telemetry.rejected', partition: PARTITION }]);
  const decoded = codecs.telemetryRejected.decode(records[0]?.value ?? Buffer.alloc(0));
  if (decoded.type !== 'decoded') throw new Error(decoded.type);
  return decoded.value;
}

describe('the telemetry processor', () => {
  it('sends the first position of a device and then none within 180 s, the edge inclusive (R-7)', async () => {
    expect(typesOf(await pipe(aPing()))).toEqual(['position']);
    expect(typesOf(await pipe(aPing({ eventTime: START + 179_999 })))).toEqual([]);
    expect(typesOf(await pipe(aPing({ eventTime: START + 180_000 })))).toEqual(['position']);
    expect(decisions).toEqual(['accepted', 'accepted', 'accepted']);
  });

  it('looks up the schemas of every slice of a batch, and the fleets before the first only', async () => {
    let asked = 0;
    let isFirst = true;
    codecs = await newCodecs();
    const fleets = { ...noFleets, caughtUp: () => Promise.resolve(void (asked += 1)) };
    const metrics = { pingDecided: () => undefined, eventEmitted: () => undefined };
    const topology = inSlices(pingTopology({ codecs, fleets, metrics }), () => isFirst);
    driver = createTopologyTestDriver({ topology, partition: PARTITION, startAt: START + HOUR_MS });
    await driver.pipe({ key: Buffer.from('device-1'), value: Buffer.from('no Avro') });
    isFirst = false;
    const written = await pipe(aPing());
    await lookUpOutput();
    expect(typesOf(written)).toEqual(['position']);
    expect(asked).toBe(1);
  });

  it('emits an ignition change before the position that it forces (R-6, R-10)', async () => {
    await pipe(aPing({ ignition: true }));
    expect(typesOf(await pipe(aPing({ ignition: false, eventTime: START + 1_000 })))).toEqual([
      'ignition_off',
      'position_sleep',
    ]);
  });

  it('counts each event under its type (R-40)', async () => {
    await pipe(aPing({ ignition: true }));
    await pipe(aPing({ ignition: false, eventTime: START + 1_000 }));
    expect(emitted).toEqual(['position', 'ignition_off', 'position_sleep']);
  });

  it('writes events to the partition of the ping, under the key of the device', async () => {
    const [event] = await pipe(aPing());
    expect(event).toMatchObject({ topic: 'fleet.events', partition: PARTITION });
    expect(event?.key?.toString()).toBe('device-1');
  });

  it('puts all events of a ping into the trace that the ping came with (R-46)', async () => {
    await pipe(aPing({ ignition: true }));
    const given = [
      { key: 'traceparent', value: Buffer.from('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01') },
    ];
    const traced = await pipe(aPing({ ignition: false, eventTime: START + 1_000 }), given);
    const [trace, ...others] = traced.map(tracesOf);
    expect(trace).toEqual([expect.stringMatching(/^traceparent 00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/)]);
    expect(others).toEqual([trace]);
  });

  it('begins a trace at a ping without one: in its events where it may be sampled, else it follows from them (R-46)', async () => {
    const ping = aPing();
    const [event] = await pipe(ping);
    expect(event && tracesOf(event)).toEqual([]);
    driver = driverWith({ recorder: null, sampleRatio: 0.5 });
    const [mayBeSampled] = await pipe(ping);
    expect(mayBeSampled && tracesOf(mayBeSampled)).toEqual([`traceparent ${traceOfPing(ping, null, 0.5)}`]);
  });

  it('passes the trace state of the ping on with its events, as long as there is a trace context (R-46)', async () => {
    const stateOf = ({ headers = [] }: OutgoingRecord) =>
      headers.filter(({ key }) => key === 'tracestate').map(({ value }) => String(value));
    const context = {
      key: 'traceparent',
      value: Buffer.from('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
    };
    const state = { key: 'tracestate', value: Buffer.from('congo=t61 , rojo=00f067') };
    const traced = await pipe(aPing({ ignition: true }), [context, state]);
    expect(traced.map(stateOf)).toEqual(traced.map(() => ['congo=t61,rojo=00f067']));
    const untraced = await pipe(aPing({ ignition: false, eventTime: START + 1_000 }), [state, state]);
    expect([traced.length, untraced.length]).not.toContain(0);
    expect(untraced.map(stateOf)).toEqual(untraced.map(() => []));
  });

  it('records a span per ping with events, under the ids that these carry, where the trace is sampled (R-46)', async () => {
    const spans: EndedSpan[] = [];
    const recorder = { record: (span: EndedSpan) => void spans.push(span), close: () => Promise.resolve() };
    driver = driverWith({ recorder, sampleRatio: 0 });
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const given = (flags: string) => [
      { key: 'traceparent', value: Buffer.from(`00-${traceId}-00f067aa0ba902b7-${flags}`) },
    ];
    const [event] = await pipe(aPing({ ignition: true }), given('01'));
    await pipe(aPing({ eventTime: START + 1_000 }), given('01')); // makes no event
    await pipe(aPing({ eventTime: START + 2_000, ignition: false }), given('00'));
    await pipe(aPing({ eventTime: START + 3_000, ignition: true })); // begins a trace
    expect(spans).toEqual([
      expect.objectContaining({
        name: 'process telemetry.pings',
        kind: 'consumer',
        context: { traceId, spanId: String(event?.headers?.[0]?.value).split('-')[2], isSampled: true },
        parent: { traceId, spanId: '00f067aa0ba902b7', isSampled: true },
        startedAt: START + HOUR_MS,
      }),
    ]);
    driver = driverWith({ recorder, sampleRatio: 1 });
    await pipe(aPing());
    expect(spans.slice(1)).toMatchObject([{ parent: null, context: { isSampled: true } }]);
  });

  it('begins each span when the slice of its ping arrived (R-46)', async () => {
    const spans: EndedSpan[] = [];
    const recorder = { record: (span: EndedSpan) => void spans.push(span), close: () => Promise.resolve() };
    driver = driverWith({ recorder, sampleRatio: 1 });
    await pipe(aPing());
    driver.punctuate(START + 2 * HOUR_MS);
    await pipe(aPing({ eventTime: START + 180_000 }));
    expect(spans.map(({ startedAt }) => startedAt)).toEqual([START + HOUR_MS, START + 2 * HOUR_MS]);
  });

  it('writes one changelog record for a device that an accepted ping changed, and none for a late one', async () => {
    await pipe(aPing());
    await pipe(aPing({ eventTime: START - 1 }));
    const changelog = driver.written().filter(({ topic }) => topic === 'telemetry-processor.device-state');
    expect(changelog.map(({ key }) => key?.toString())).toEqual(['fleet-1\u001fdevice-1']);
    expect(decisions).toEqual(['accepted', 'late']);
  });

  it('keeps the state of equal device ids of two fleets apart', async () => {
    await pipe(aPing());
    expect(typesOf(await pipe(aPing({ fleetId: 'fleet-2' })))).toEqual(['position']);
  });

  it('rejects a ping from the future with its original bytes and does not change the device (R-3)', async () => {
    const ahead = aPing({ eventTime: START + 300_001, receivedTime: START });
    const value = codecs.telemetryPings.encode(ahead);
    const rejection = rejectionOf(await driver.pipe({ key: Buffer.from('device-1'), value, timestamp: START + 77 }));
    expect(rejection).toMatchObject({
      reason: 'future',
      sourceTopic: 'telemetry.pings',
      sourcePartition: PARTITION,
      sourceTimestamp: START + 77,
    });
    expect(rejection.sourceValue).toEqual(value);
    expect(typesOf(await pipe(aPing()))).toEqual(['position']);
  });

  it('rejects pings of a clock that is an hour ahead, so that those of the right clock are not late (R-3, R-4)', async () => {
    const send = (ping: TelemetryPing, timestamp: number): Promise<OutgoingRecord[]> =>
      driver.pipe({ key: Buffer.from('device-1'), value: codecs.telemetryPings.encode(ping), timestamp });
    const [wrongAt, rightAt] = [START + HOUR_MS, START + 60_000];
    const wrong = await send(aPing({ eventTime: wrongAt, receivedTime: wrongAt }), START);
    expect(rejectionOf(wrong)).toMatchObject({ reason: 'future', sourceTimestamp: START });
    expect(typesOf(await send(aPing({ eventTime: rightAt, receivedTime: rightAt }), rightAt))).toEqual(['position']);
    expect(decisions).toEqual(['rejected', 'accepted']);
  });

  it.each([
    ['bytes that are no Avro record', () => Buffer.from('{"hello":1}'), 'malformed'],
    ['no value at all', () => null, 'malformed'],
    ['a schema id that the registry does not know', () => Buffer.from([0, 0, 0, 0x40, 0, 1, 2, 3]), 'unknown_schema'],
    ['a schema that is not a ping', () => codecs.fleetSettings.encode(someSettings), 'incompatible_schema'],
    ['an int of more than 32 bits', () => pingWithHugeRpm(), 'malformed'],
    ['an empty fleetId', () => codecs.telemetryPings.encode(aPing({ fleetId: '' })), 'invalid_field'],
    ['the key of another device', () => codecs.telemetryPings.encode(aPing({ deviceId: 'device-2' })), 'key_mismatch'],
  ])('quarantines a record with %s and goes on (R-2)', async (_what, value, reason) => {
    const rejection = rejectionOf(await driver.pipe({ key: Buffer.from('device-1'), value: value() }));
    expect(rejection.reason).toBe(reason);
    expect(rejection.sourceKey?.toString()).toBe('device-1');
    expect(typesOf(await pipe(aPing()))).toEqual(['position']);
  });

  it('says of the rejection of a copy that was published again what its original is (R-2)', async () => {
    const value = Buffer.from('no Avro');
    const header = republishedHeader({ offset: 7, timestamp: START });
    const [rejected] = await driver.pipe({ key: Buffer.from('device-1'), value, headers: [header] });
    expect(rejected?.headers).toEqual([header]);
  });

  it.each([
    ['the key of another', 'device-2', {}, 'key_mismatch'],
    ['no key', null, {}, 'key_mismatch'],
    ['a time that is none', 'device-1', { receivedTime: -1 }, 'invalid_field'],
  ])('quarantines a ping with %s though its device is known (R-2)', async (_what, key, fields, reason) => {
    await pipe(aPing());
    const value = codecs.telemetryPings.encode(aPing({ eventTime: START + 1_000, ...fields }));
    const rejection = rejectionOf(await driver.pipe({ key: key === null ? null : Buffer.from(key), value }));
    expect(rejection.reason).toBe(reason);
    expect(decisions).toEqual(['accepted', 'rejected']);
  });

  it.each([
    ['of a device', Buffer.from('device-1')],
    ['that is no text', Buffer.from([0x64, 0xff, 0x00, 0xc3])],
    ['of no bytes', Buffer.alloc(0)],
    ['that is missing', null],
  ])('quarantines a record with a key %s under that key, and with it (R-2)', async (_what, key) => {
    const records = await driver.pipe({ key, value: Buffer.from('{"hello":1}') });
    expect(records[0]?.key).toEqual(key);
    expect(rejectionOf(records).sourceKey).toEqual(key);
  });
});

/** Whether a slice is the first of its batch, as the test says. */
function inSlices(topology: Topology, isFirst: () => boolean): Topology {
  return {
    ...topology,
    processor: (task) => {
      const processor = topology.processor(task);
      if (!('processSlice' in processor)) throw new Error('a processor of slices expected');
      return { processSlice: (slice) => processor.processSlice({ ...slice, isFirst: isFirst() }) };
    },
  };
}

/** The ping with its rpm, an Avro int, written as a long of more than 32 bits: no writer of ours could. */
function pingWithHugeRpm(): Buffer {
  const [before, after] = [2_001, 2_002].map((rpm) => codecs.telemetryPings.encode(aPing({ rpm })));
  const at = before?.findIndex((byte, index) => byte !== after?.[index]) ?? -1;
  if (!before || at < 0) throw new Error('The rpm is not found.');
  const huge = Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x01]);
  return Buffer.concat([before.subarray(0, at), huge, before.subarray(at + 2)]);
}

const someSettings = {
  fleetId: 'f',
  name: null,
  payloadFormat: 'v1',
  routes: false,
  version: 1,
  createdAt: 0,
  updatedAt: 0,
};
