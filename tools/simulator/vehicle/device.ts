import { distance, toDegrees } from '../city/geometry.js';
import type { RoadNetwork } from '../city/road-network.js';
import { between, chance, noise, pick, type Random, wholeBetween } from '../random.js';
import type { DriveState } from './drive.js';

/** A ping in the form of a track file: ISO 8601 times; unknown values are absent. */
export interface TrafficRow {
  readonly deviceId: string;
  readonly eventTime: string;
  readonly receivedTime: string;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly altitudeM?: number;
  readonly speedKmh?: number;
  readonly headingDeg?: number;
  readonly satellites?: number;
  readonly hdop?: number;
  readonly ignition?: boolean;
  readonly odometerM?: number;
  readonly rpm?: number;
  readonly fuelLevel?: number;
  readonly batteryVoltage: number;
  readonly connectionType: string;
  readonly vehicleId: string;
  readonly licensePlate: string;
  readonly driverId?: string;
  readonly buffered?: true;
  readonly seq: number;
}

export interface Device {
  /** Takes a second of driving; returns what reaches the network then, in the order of arrival. */
  observe(nowMs: number, state: DriveState): TrafficRow[];
}

/** Differences between devices, as between products. */
interface Product {
  /** Whether it reads the vehicle's bus: revolutions, fuel, odometer. */
  readonly hasBus: boolean;
  readonly hasIgnitionWire: boolean;
  /** Whether it writes (0, 0) for "no fix" instead of nothing. */
  readonly writesZero: boolean;
  /** Whether it sends the newest ping first after a gap, then its store: those arrive late. */
  readonly newestFirst: boolean;
  readonly connectionType: string;
}

const drivingIntervalMs = 10_000;
const parkedIntervalMs = 120_000;
const storeLimit = 360;
const resentShare = 0.002;

export function createDevice(network: RoadNetwork, random: Random, number: number, startMs: number): Device {
  const product = productOf(random);
  const identity = identityOf(random, number);
  const phaseMs = wholeBetween(random, 0, 999);
  const store: TrafficRow[] = [];
  let nextPingAtMs = startMs + wholeBetween(random, 0, drivingIntervalMs);
  let engineWasOn: boolean | null = null;
  let odometerM = firstOdometerM(random, startMs);
  let fuelLevel = between(random, 25, 100);
  let sequence = 0;

  function measure(eventMs: number, state: DriveState): TrafficRow {
    sequence += 1;
    return {
      ...identity,
      eventTime: isoTime(eventMs),
      receivedTime: isoTime(eventMs + wholeBetween(random, 40, 400)),
      ...fixOf(network, product, random, state),
      ...(product.hasIgnitionWire ? { ignition: state.engineOn } : {}),
      ...(product.hasBus ? busOf(random, state, odometerM, fuelLevel) : {}),
      batteryVoltage: Math.round((state.engineOn ? 13.9 : 12.6) * 10 + noise(random)) / 10,
      connectionType: product.connectionType,
      seq: sequence,
    };
  }

  function send(row: TrafficRow, at: string): TrafficRow[] {
    const sent = chance(random, resentShare) ? [row, row] : [row];
    if (store.length === 0) return sent;
    const stored = store.splice(0).map((one): TrafficRow => ({ ...one, receivedTime: at, buffered: true }));
    return product.newestFirst ? [...sent, ...stored] : [...stored, ...sent];
  }

  return {
    observe(nowMs, state) {
      odometerM += state.movedM;
      fuelLevel = state.engineOn ? Math.max(3, fuelLevel - state.movedM / 6_000 - 1 / 9_000) : fuelLevel;
      const turned = engineWasOn !== null && engineWasOn !== state.engineOn;
      engineWasOn = state.engineOn;
      if (!turned && nowMs < nextPingAtMs) return [];
      nextPingAtMs = nowMs + (state.engineOn ? drivingIntervalMs : parkedIntervalMs);
      const row = measure(nowMs + phaseMs, state);
      if (distance(state.at, network.deadZone.at) >= network.deadZone.radiusM) return send(row, row.receivedTime);
      if (store.length < storeLimit) store.push(row);
      return [];
    },
  };
}

function productOf(random: Random): Product {
  return {
    hasBus: chance(random, 0.75),
    hasIgnitionWire: chance(random, 0.94),
    writesZero: chance(random, 0.1),
    newestFirst: chance(random, 0.4),
    connectionType: pick(random, ['LTE', 'LTE', 'LTE-M', '2G']),
  };
}

function identityOf(random: Random, number: number) {
  const padded = String(number).padStart(3, '0');
  return {
    deviceId: `tracker-${padded}`,
    vehicleId: `van-${padded}`,
    licensePlate: `WP ${String(wholeBetween(random, 1_000, 9_999))}`,
    ...(chance(random, 0.8) ? { driverId: `driver-${String(wholeBetween(random, 1, 140))}` } : {}),
  };
}

/** Grows with the date, so that a later run of the same fleet does not turn its odometers back. */
function firstOdometerM(random: Random, startMs: number): number {
  const hours = Math.max(0, startMs - Date.UTC(2025, 6, 1)) / 3_600_000;
  return Math.round(between(random, 5_000_000, 150_000_000) + hours * 25_000);
}

function fixOf(network: RoadNetwork, product: Product, random: Random, state: DriveState): Partial<TrafficRow> {
  if (state.covered) return product.writesZero ? { latitude: 0, longitude: 0, satellites: 0 } : { satellites: 0 };
  const hdop = Math.round(between(random, 6, 18)) / 10;
  const at = { x: state.at.x + noise(random) * 1.5 * hdop, y: state.at.y + noise(random) * 1.5 * hdop };
  return {
    ...toDegrees(network.center, at),
    altitudeM: Math.round(2_500 + 300 * Math.sin(state.at.x / 1_300) + 200 * Math.cos(state.at.y / 1_700)) / 10,
    speedKmh: state.speedMs === 0 ? 0 : Math.max(0, Math.round(state.speedMs * 36 + noise(random) * 4) / 10),
    headingDeg: (Math.round(state.headingDeg * 10) % 3_600) / 10,
    satellites: wholeBetween(random, 7, 18),
    hdop,
  };
}

function busOf(random: Random, { engineOn, speedMs }: DriveState, odometerM: number, fuelLevel: number) {
  const revolutions = speedMs < 0.5 ? 790 : 1_100 + ((speedMs * 3.6 * 42) % 1_700);
  return {
    rpm: engineOn ? Math.round(revolutions + noise(random) * 25) : 0,
    fuelLevel: Math.round(fuelLevel * 10) / 10,
    odometerM: Math.round(odometerM),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
