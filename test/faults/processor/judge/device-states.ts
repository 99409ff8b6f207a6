import { resolveBatch, type AvroCodecs } from '@waypost/contracts';
import type { PlainDevice } from '../../../support/plain-rules.js';
import type { LogRecord } from './log.js';

/** The changelog folded to its end: the last value of each key, in one line each. */
export async function foldedStates(changelog: readonly LogRecord[], codecs: AvroCodecs): Promise<Map<string, string>> {
  await resolveBatch(codecs.deviceState, changelog);
  const last = new Map<string, LogRecord>();
  for (const record of changelog) last.set(record.key?.toString() ?? '', record);
  const states = new Map<string, string>();
  for (const [key, { partition, value }] of last) {
    if (value === null) continue;
    const decoded = codecs.deviceState.decode(value);
    if (decoded.type !== 'decoded') {
      states.set(key, decoded.type);
      continue;
    }
    const { newestEventTime, ignition, lastSentTime, armed, ...fix } = decoded.value;
    const place = fix.fixTime === null ? null : { time: fix.fixTime, latitude: fix.latitude, longitude: fix.longitude };
    states.set(key, stateLine(partition, [newestEventTime, ignition, lastSentTime, armed, place]));
  }
  return states;
}

export function expectedStates(
  devices: ReadonlyMap<string, PlainDevice>,
  fleetId: string,
  partitionOf: ReadonlyMap<string, number>,
): Map<string, string> {
  const states = new Map<string, string>();
  for (const [deviceId, { newest, ignition, lastSent, armed, fix }] of devices) {
    const values = [newest, ignition ?? null, lastSent ?? null, armed, fix ?? null];
    states.set(`${fleetId}\u001f${deviceId}`, stateLine(partitionOf.get(deviceId) ?? -1, values));
  }
  return states;
}

const stateLine = (partition: number, values: readonly unknown[]): string =>
  `partition ${String(partition)}: ${JSON.stringify(values)}`;
