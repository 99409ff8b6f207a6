import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import type { DeviceState } from '../records/device-state.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { decidePing, isAccepted, type PingDecision } from './decide-ping.js';
import { evolveDevice } from './evolve-device.js';

/** What became of the pings of a file, and the positions and ignition changes that they made. */
type Counts = Partial<
  Record<'position' | 'position_sleep' | 'ignition_on' | 'ignition_off' | 'window' | 'old' | 'noFix', number>
>;

interface Track {
  readonly name: string;
  readonly pings: () => Iterable<TelemetryPing>;
  readonly expected: Counts;
}

/** Recorded traffic lies beside a checkout, not in it. */
const folder = new URL('../../../../../shared/data/', import.meta.url);

const recorded: readonly Track[] = [
  track('dev-capmetro-2015-03', { position: 24_685, window: 32_088, old: 145 }),
  track('dev-capmetro-2017-04', { position: 18_658, window: 25_620, noFix: 22 }),
  track('dev-envirocar-2017', {
    position: 940,
    position_sleep: 7,
    ignition_on: 7,
    ignition_off: 7,
    window: 32_624,
    old: 9_484,
  }),
];

/**
 * 40 devices, each an hour on the road with a ping every 20 s: 180 pings, of which every 9th is a position. After half
 * an hour the key is turned off and on again, 60 s apart, which restarts the window on the way: 10 positions before, the
 * one with the key off, and 10 from the restart on (1,860 s, then every 180 s up to 3,480 s). Every ping is sent twice.
 */
const generated: Track = {
  name: '40 generated devices',
  pings: generatedPings,
  expected: {
    position: 40 * (10 + 10),
    position_sleep: 40,
    ignition_on: 40,
    ignition_off: 40,
    window: 40 * (180 - 21),
    old: 40 * 180,
  },
};

function* generatedPings(): Iterable<TelemetryPing> {
  for (let second = 0; second < 3_600; second += 20) {
    for (let device = 0; device < 40; device++) {
      const ignition = second < 1_800 || second >= 1_860;
      const ping = pingOf({ deviceId: `device-${String(device)}`, eventTime: NOON + second * 1000, ignition });
      yield ping;
      yield ping;
    }
  }
}

function track(name: string, expected: Counts): Track {
  return { name, pings: () => readPings(new URL(`${name}.ndjson.gz`, folder)), expected };
}

interface TrackLine {
  readonly deviceId: string;
  readonly eventTime: string;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly speedKmh?: number;
  readonly headingDeg?: number;
  readonly ignition?: boolean;
  readonly rpm?: number;
  readonly fuelLevel?: number;
  readonly altitudeM?: number;
  readonly hdop?: number;
}

function* readPings(file: URL): Iterable<TelemetryPing> {
  for (const line of gunzipSync(readFileSync(file)).toString().split('\n')) {
    if (line !== '') yield pingOfLine(JSON.parse(line) as TrackLine);
  }
}

function pingOfLine(line: TrackLine): TelemetryPing {
  return pingOf({
    deviceId: line.deviceId,
    eventTime: Date.parse(line.eventTime),
    positionValid: line.latitude !== undefined && line.longitude !== undefined,
    latitude: line.latitude ?? null,
    longitude: line.longitude ?? null,
    speedInKmh: line.speedKmh ?? null,
    heading: line.headingDeg ?? null,
    ignition: line.ignition ?? null,
    rpm: line.rpm ?? null,
    fuelLevel: line.fuelLevel ?? null,
    altitudeInMeters: line.altitudeM ?? null,
    hdop: line.hdop ?? null,
  });
}

function countOutcomes(pings: Iterable<TelemetryPing>): Counts {
  const states = new Map<string, DeviceState>();
  const counts: Record<string, number> = {};
  for (const ping of pings) {
    const state = states.get(ping.deviceId) ?? null;
    const decision = decidePing(state, ping, ping.receivedTime);
    if (isAccepted(decision)) states.set(ping.deviceId, evolveDevice(state, ping, decision));
    for (const label of labelsOf(decision)) counts[label] = (counts[label] ?? 0) + 1;
  }
  return counts;
}

/** Events of routes and stops have a resource, and a spec of their own. */
function isOfPing({ resourceId }: FleetEvent): boolean {
  return resourceId === null;
}

function labelsOf(decision: PingDecision): string[] {
  switch (decision.type) {
    case 'moved':
      return ['window'];
    case 'accepted': {
      const types = decision.events.filter(isOfPing).map((event) => event.eventType);
      if (decision.position === 'sent') return types;
      return [...types, decision.position === 'inside_window' ? 'window' : 'noFix'];
    }
    case 'late':
    case 'duplicate':
      return ['old'];
    case 'expired':
    case 'rejected':
      return [decision.type];
  }
}

describe('whole tracks through the rules', () => {
  const tracks = [generated, ...recorded.filter(({ name }) => existsSync(new URL(`${name}.ndjson.gz`, folder)))];

  it.each(tracks)('$name: the counts are those worked out beforehand', ({ pings, expected }) => {
    expect(countOutcomes(pings())).toEqual(expected);
  });
});
