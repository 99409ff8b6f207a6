/** a ping as the paths keep it, unique by fleet, device and time. null means "not reported". */
export interface PathPoint {
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventTime: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly speedInKmh: number | null;
  readonly heading: number | null;
  readonly ignition: boolean | null;
  readonly odometerInMeters: number | null;
  readonly rpm: number | null;
  readonly fuelLevel: number | null;
  readonly valid: boolean;
}

/** Where a page ended. Ordered by these fields in this order; device ids by their UTF-8 bytes. */
export interface PathPosition {
  readonly deviceId: string;
  readonly eventTime: number;
}

export interface PathWalkPosition extends PathPosition {
  readonly startAt: number;
}

/** A page of one fleet. The window is that of the event time, [startAt, endAt). */
export interface PathQuery {
  readonly fleetId: string;
  readonly startAt: number;
  readonly endAt: number;
  readonly deviceIds?: readonly string[] | undefined;
  readonly limit: number;
  readonly after?: PathPosition | undefined;
}

export abstract class PathHistory {
  abstract findPoints(query: PathQuery): Promise<PathPoint[]>;
}
