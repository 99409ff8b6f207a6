/** A ping as the paths keep it. No two of a fleet and device share a time. null means "not reported". */
export interface PathPoint {
  readonly fleetId: string;
  readonly deviceId: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** WGS-84 degrees as reported: only a valid fix is a place. */
  readonly latitude: number | null;
  /** WGS-84 degrees as reported. */
  readonly longitude: number | null;
  readonly speedInKmh: number | null;
  /** Degrees, 0 <= heading < 360, true north. */
  readonly heading: number | null;
  /** Of this ping; nothing is carried forward. */
  readonly ignition: boolean | null;
  readonly odometerInMeters: number | null;
  readonly rpm: number | null;
  /** Percent. */
  readonly fuelLevel: number | null;
  /** Whether the fix is valid. */
  readonly valid: boolean;
}

/** Where a page ended. Points are ordered by these fields, in this order; device ids by their UTF-8 bytes. */
export interface PathPosition {
  readonly deviceId: string;
  readonly eventTime: number;
}

/** A walk over paths goes by device, so every page needs the start that the first one had. */
export interface PathWalkPosition extends PathPosition {
  /** The start of the walk's window, which the retention may have moved; epoch milliseconds. */
  readonly startAt: number;
}

/** A page of the points of one fleet. The window is that of the event time. */
export interface PathQuery {
  readonly fleetId: string;
  /** Inclusive, epoch milliseconds. */
  readonly startAt: number;
  /** Exclusive, epoch milliseconds. */
  readonly endAt: number;
  /** Any of these; absent: every device. */
  readonly deviceIds?: readonly string[] | undefined;
  readonly limit: number;
  /** Only points behind this position. */
  readonly after?: PathPosition | undefined;
}

/** Port of the query side. */
export interface PathHistory {
  /** At most `limit` points in the order of their positions. */
  findPoints(query: PathQuery): Promise<PathPoint[]>;
}
