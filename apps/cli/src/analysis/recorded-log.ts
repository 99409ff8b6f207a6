import { topics } from '@waypost/contracts';
import {
  createFleetSettingsHistory,
  createGeofenceHistory,
  parseGeofenceKey,
  type FleetSettings,
  type FleetSettingsHistory,
  type Geofence,
  type GeofenceHistory,
  type TelemetryPing,
} from '@waypost/domain';
import { decodeBatch, type DecodedRecord } from '../log/decode-batch.js';
import type { LogRange } from '../log/log-range.js';
import { openLog } from '../log/open-log.js';
import type { StackEnvironment } from '../stack/stack-config.js';
import type { RecordedPing } from './rule-run.js';

const ALL: LogRange = { from: null, to: null, untilEnd: true };

/** Reads a range of a topic, decoded; `take` is called in the order of each partition. */
export async function readTopic(
  stack: StackEnvironment,
  topic: string,
  range: Partial<LogRange>,
  take: (records: readonly DecodedRecord[]) => Promise<void> | void,
): Promise<void> {
  const log = openLog(stack, topic);
  try {
    await log.read({ ...ALL, ...range }, async (batch) => {
      await take(await decodeBatch(log.codec, batch));
    });
  } finally {
    await log.close();
  }
}

export interface RecordedGeofences {
  /** All versions of all geofences that the topic still has (decision 0028). */
  readonly history: GeofenceHistory;
  /** Of all of them, deleted ones too. */
  ids(fleetId: string): readonly string[];
}

export async function readGeofences(stack: StackEnvironment): Promise<RecordedGeofences> {
  const history = createGeofenceHistory();
  const ids = new Map<string, Set<string>>();
  await readTopic(stack, topics.fleetGeofences.name, {}, (records) => {
    for (const { key, value, timestamp } of records) {
      history.record(key ?? '', value as Geofence | null, timestamp);
      const { fleetId, geofenceId } = parseGeofenceKey(key ?? '');
      ids.set(fleetId, (ids.get(fleetId) ?? new Set()).add(geofenceId));
    }
  });
  return { history, ids: (fleetId) => [...(ids.get(fleetId) ?? [])].sort() };
}

/** All versions of the settings of all fleets that the topic still has (decision 0030). */
export async function readFleetSettings(stack: StackEnvironment): Promise<FleetSettingsHistory> {
  const history = createFleetSettingsHistory();
  await readTopic(stack, topics.fleetSettings.name, {}, (records) => {
    for (const { key, value, timestamp } of records) {
      history.record(key ?? '', value as FleetSettings | null, timestamp);
    }
  });
  return history;
}

/** Pings that can be decoded; what cannot was quarantined by the processor too. */
export async function readPings(
  stack: StackEnvironment,
  range: Partial<LogRange>,
  take: (pings: readonly RecordedPing[]) => void,
): Promise<void> {
  await readTopic(stack, topics.telemetryPings.name, range, (records) => {
    take(
      records.flatMap(({ partition, timestamp: appendedAt, key, value }) =>
        value === null ? [] : [{ partition, appendedAt, key, ping: value as TelemetryPing }],
      ),
    );
  });
}
