import type { WebhookReplay } from '@waypost/domain';
import type { StoredReplay } from './replay-store.js';

/** A row of `webhook_replays` as SQL gives it. */
export interface ReplayRow {
  readonly replay_id: string;
  readonly subscription_id: string;
  readonly fleet_id: string;
  readonly series: number;
  readonly start_date: Date;
  readonly end_date: Date;
  readonly status: string | null;
  readonly event_type: string | null;
  readonly device_id: string | null;
  readonly rate_per_second: number;
  readonly cancelled: boolean;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly progress_state: string | null;
  readonly matched: string | null;
  readonly sent: string;
  readonly started_at: Date | null;
  readonly progress_at: Date | null;
}

export function storedReplay(row: ReplayRow): StoredReplay {
  const { progress_state: state, matched, sent, started_at: startedAt, progress_at: progressAt } = row;
  const progress =
    state === null || startedAt === null || progressAt === null
      ? null
      : {
          state,
          matched: matched === null ? null : Number(matched),
          sent: Number(sent),
          startedAt: startedAt.getTime(),
          updatedAt: progressAt.getTime(),
        };
  return { replay: replayOf(row), progress };
}

function replayOf(row: ReplayRow): WebhookReplay {
  return {
    replayId: row.replay_id,
    subscriptionId: row.subscription_id,
    fleetId: row.fleet_id,
    series: row.series,
    startDate: row.start_date.getTime(),
    endDate: row.end_date.getTime(),
    status: row.status,
    eventType: row.event_type,
    deviceId: row.device_id,
    ratePerSecond: row.rate_per_second,
    cancelled: row.cancelled,
    version: row.version,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  };
}

const COLUMNS = [
  ...['replay_id', 'subscription_id', 'fleet_id', 'series', 'start_date', 'end_date', 'status', 'event_type'],
  ...['device_id', 'rate_per_second', 'cancelled', 'version', 'created_at', 'updated_at'],
];

export const INSERT_REPLAY = `INSERT INTO webhook_replays (${COLUMNS.join(', ')})
  VALUES (${COLUMNS.map((_, index) => `$${String(index + 1)}`).join(', ')})`;

/** The parameters of INSERT_REPLAY. */
export function replayValues(replay: WebhookReplay): unknown[] {
  return [
    ...[replay.replayId, replay.subscriptionId, replay.fleetId, replay.series],
    ...[new Date(replay.startDate), new Date(replay.endDate), replay.status, replay.eventType, replay.deviceId],
    ...[replay.ratePerSecond, replay.cancelled, replay.version],
    ...[new Date(replay.createdAt), new Date(replay.updatedAt)],
  ];
}
