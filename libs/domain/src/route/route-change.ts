export type RouteEndReason = 'ignition_off' | 'stationary' | 'no_data';

interface ChangeAt {
  /** When it happened, which is before the ping that shows it: the event's time. Epoch milliseconds. */
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
}

export interface RouteFinished extends ChangeAt {
  readonly type: 'route_finished';
  readonly startTime: number;
  readonly startLocation: { readonly latitude: number; readonly longitude: number };
  /** Of the fix at latitude and longitude. */
  readonly fixTime: number;
  readonly distanceInMeters: number;
  readonly maxSpeedInKmh: number | null;
  /** null: no speed was reported. */
  readonly idleMs: number | null;
  readonly endReason: RouteEndReason;
}

/** What a ping changes about the routes and stops of its device. */
export type RouteChange =
  | (ChangeAt & { readonly type: 'stop_finished'; readonly startTime: number })
  | (ChangeAt & { readonly type: 'route_started' })
  | RouteFinished
  | (ChangeAt & { readonly type: 'stop_started'; readonly fixTime: number });
